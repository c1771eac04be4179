"""Tests of the migration that lets any document reserve stock: it preserves the reservations of sales orders."""

from pathlib import Path

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, migrate

BEFORE = 15
HELD = """
    INSERT INTO articles
        (id, code, name, unit, barcodes, um3pl_factor, track_lot, track_serial, active, change_seq, created_at,
         updated_at)
        VALUES (1, 'A', 'A', 'BUC', '[]', 1000000, 0, 0, 1, 1, '2026', '2026');
    INSERT INTO warehouses (id, code, name, active, created_at, updated_at)
        VALUES (1, 'M', 'M', 1, '2026', '2026');
    INSERT INTO partners (id, code, name, type, active, created_at, updated_at)
        VALUES (1, 'P', 'P', 'CLIENT', 1, '2026', '2026');
    INSERT INTO stock (id, article_id, warehouse_id, quantity, reserved, change_seq, created_at, updated_at)
        VALUES (1, 1, 1, 9, 5, 1, '2026', '2026');
    INSERT INTO stock_lots (id, stock_id, lot_number, quantity, reserved) VALUES (1, 1, 'L', 9, 4);
    INSERT INTO sales_orders
        (id, code, status, status_history, partner_id, warehouse_id, change_seq, created_at, updated_at)
        VALUES (7, 'SO', 'CREAT', '[]', 1, 1, 1, '2026', '2026');
    INSERT INTO reservations VALUES (7, 1, 5);
    INSERT INTO lot_reservations VALUES (7, 1, 4);
    INSERT INTO stock_serials (id, article_id, serial, stock_id, lot_number, quarantined, sales_order_id)
        VALUES (3, 1, 'S1', 1, 'L', 0, 7), (4, 1, 'S2', 1, NULL, 1, NULL);
"""


def test_what_orders_held_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    connection = connect(path, create=True)
    for script in COMPANY.scripts()[:BEFORE]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {COMPANY.application_id}")
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.executescript(HELD)
    connection.close()
    migrate(path, COMPANY)
    connection = connect(path)
    found = {
        table: [tuple(row) for row in connection.execute(f"SELECT * FROM {table}")]
        for table in ("reservations", "lot_reservations", "stock_serials")
    }
    problems = [tuple(row) for row in connection.execute("PRAGMA foreign_key_check")]
    connection.close()
    assert found == {
        "reservations": [("sales_order", 7, 1, 5)],
        "lot_reservations": [("sales_order", 7, 1, 4)],
        "stock_serials": [
            (3, 1, "S1", 1, "L", 0, "sales_order", 7),
            (4, 1, "S2", 1, None, 1, None, None),
        ],
    }
    assert problems == []
