"""Tests of the migrations after which `updated_at` is the time of a record's last change."""

from pathlib import Path

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, migrate

BEFORE = 16
STOOD = """
    INSERT INTO articles
        (id, code, name, unit, barcodes, um3pl_factor, track_lot, track_serial, active, change_seq, created_at,
         updated_at)
        VALUES (1, 'A', 'A', 'BUC', '[]', 1000000, 0, 0, 1, 1795176000123000, '2026-11-20T12:00:00.123Z',
                '2026-11-20T12:00:00.123Z'),
               (2, 'B', 'B', 'BUC', '[]', 1000000, 0, 0, 1, 1795176000124007, '2026-11-20T12:00:00.123Z',
                '2026-11-20T12:00:00.123Z');
    INSERT INTO warehouses (id, code, name, active, created_at, updated_at)
        VALUES (1, 'M', 'M', 1, '2026', '2026');
    INSERT INTO stock (id, article_id, warehouse_id, quantity, change_seq, created_at, updated_at)
        VALUES (1, 1, 1, 9, 4102444800000999, '2026-11-20T12:00:00.123Z', '2026-11-20T12:00:00.123Z');
"""


BEFORE_WEBHOOKS = 33
WEBHOOKS = """
    INSERT INTO webhook_subscriptions (id, name, url, events, auth_type, active, credentials, has_short_secret,
        created_at, updated_at)
    SELECT value ->> 0, 'a', 'https://a', '["*"]', 'hmac', 1, '', 0, '2026', value ->> 1
    FROM json_each('[[1, "2026-11-20T12:00:00.124Z"], [2, "2026-11-20T12:00:00.123Z"],
        [3, "2026-11-20T12:00:00.124Z"]]');
"""


def migrated(path: Path, before: int, stood: str) -> None:
    """Create a file in its state before a migration, then run this and all later migrations."""
    connection = connect(path, create=True)
    for script in COMPANY.scripts()[:before]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {COMPANY.application_id}")
    connection.execute(f"PRAGMA user_version = {before}")
    connection.executescript(stood)
    connection.close()
    migrate(path, COMPANY)


def test_webhooks_get_places_in_the_order_of_their_changes(tmp_path: Path) -> None:
    migrated(tmp_path / "1.db", BEFORE_WEBHOOKS, WEBHOOKS)
    connection = connect(tmp_path / "1.db")
    rows = connection.execute("SELECT id, change_seq, updated_at FROM webhook_subscriptions ORDER BY change_seq")
    found = [tuple(row) for row in rows.fetchall()]
    ((last,),) = connection.execute("SELECT value FROM change_sequence").fetchall()
    connection.close()
    assert [(number, place // 1000, shown) for number, place, shown in found] == [
        (2, 1795176000123, "2026-11-20T12:00:00.123Z"),
        (1, 1795176000124, "2026-11-20T12:00:00.124Z"),
        (3, 1795176000124, "2026-11-20T12:00:00.124Z"),
    ]
    assert last == found[-1][1] > found[-2][1]


def test_what_showed_an_earlier_moment_shows_its_own(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    migrated(path, BEFORE, STOOD)
    connection = connect(path)
    articles = connection.execute("SELECT id, updated_at, created_at FROM articles ORDER BY id").fetchall()
    (stock,) = connection.execute("SELECT updated_at FROM stock").fetchone()
    connection.close()
    assert [tuple(row) for row in articles] == [
        (1, "2026-11-20T12:00:00.123Z", "2026-11-20T12:00:00.123Z"),
        (2, "2026-11-20T12:00:00.124Z", "2026-11-20T12:00:00.123Z"),
    ]
    assert stock == "2100-01-01T00:00:00.000Z"
