"""A company's history, written by SQL: stock records, with the ledger and the documents that explain the balances.

The stock records and the remaining stock are the same for every length of the history. The stock of a real company
is limited, its ledger is not. (`pages.py` measures lists of many stock records.) In a cycle of five movements
goods arrive and leave again. The rows are in the order of a real file: movements of all records are mixed, and
orders and receptions are written line by line. Each lot that ever existed has a row. A fifth of the articles have
lots, one in fifty has serials.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.processes import Failed, progress
from benchmarks.site import Company, Installation
from benchmarks.size import sized

ARTICLES: Final = sized(5_000, 100)
WAREHOUSES: Final = 2
RECORDS: Final = ARTICLES * WAREHOUSES
IN_A_CYCLE: Final = 5
CYCLE: Final = RECORDS * IN_A_CYCLE
AT_ONCE: Final = 10
"""The cycles in one commit."""
TABLES: Final = (
    *("stock_movements", "sales_orders", "sales_order_lines", "purchase_orders", "purchase_order_items"),
    *("receptions", "reception_items", "stock_lots"),
)
WHEN: Final = "'2026-01-01T00:00:00.000Z'"
BEGUN: Final = (
    "UPDATE articles SET track_lot = id % 5 = 0, track_serial = id % 50 = 1",
    f"""
        WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < {RECORDS})
        INSERT INTO stock (id, article_id, warehouse_id, change_seq, created_at, updated_at)
        SELECT id, (id - 1) / {WAREHOUSES} + 1, (id - 1) % {WAREHOUSES} + 1, id + 1000000000, {WHEN}, {WHEN}
        FROM numbers
    """,
)
MOVEMENTS: Final = f"""
    WITH RECURSIVE numbers (id) AS (SELECT :first UNION ALL SELECT id + 1 FROM numbers WHERE id < :last),
    placed AS (
        SELECT id, (id - 1) % {RECORDS} + 1 AS stock_id, (id - 1) / {CYCLE} AS cycle,
            (id - 1) / {RECORDS} % {IN_A_CYCLE} AS place, (id - 1) / {CYCLE} + 1 = :cycles AS is_last
        FROM numbers
    ),
    kinds AS (
        SELECT placed.*, track_lot, track_serial, CASE
            WHEN place = 0 OR (place = 1 AND track_serial) THEN 'receipt'
            WHEN place = 3 AND track_serial AND is_last THEN 'quarantine'
            WHEN place = 4 AND track_serial THEN 'return'
            ELSE 'loading' END AS kind
        FROM placed CROSS JOIN articles ON articles.id = (stock_id - 1) / {WAREHOUSES} + 1
    )
    INSERT INTO stock_movements (id, stock_id, quantity, quarantined, destroyed, lot_number, serial, kind,
        document_id, document_line_id, actor, occurred_at)
    SELECT id, stock_id,
        CASE kind WHEN 'receipt' THEN iif(track_serial, 1000000, iif(is_last, 47000000, 40000000))
            WHEN 'loading' THEN iif(track_serial, -1000000, -10000000) ELSE 0 END,
        iif(kind = 'quarantine', 1000000, 0), iif(kind = 'return', 1000000, 0), iif(track_lot, 'L' || cycle, NULL),
        iif(track_serial, 'S' || stock_id || '-' || cycle || iif(place IN (1, 3), 'B', 'A'), NULL), kind,
        CASE kind WHEN 'receipt' THEN (id - 1) / 200 + 1 WHEN 'loading' THEN (id - 1) / 4 + 1 END,
        iif(kind IN ('receipt', 'loading'), id, NULL), 'bench', {WHEN}
    FROM kinds
"""


def _moved(kind: str) -> str:
    return f"""
        FROM stock_movements AS moved CROSS JOIN stock ON stock.id = moved.stock_id
        WHERE moved.id BETWEEN :first AND :last AND kind = '{kind}'
    """


def _documents(table: str, prefix: str, status: str, other: str, kind: str) -> str:
    """Return the SQL that inserts documents of one kind.

    `other` is the column for the document's partner or, in receptions, for the purchase order.
    """
    value = "document_id" if other == "purchase_order_id" else "1"
    return f"""
        INSERT INTO {table} (id, code, status, {other}, warehouse_id, status_history, change_seq, created_at,
            updated_at)
        SELECT DISTINCT document_id, printf('{prefix}-%06d', document_id), '{status}', {value}, 1,
            '[{{"status":"{status}","at":"2026-01-01T00:00:00.000Z"}}]', document_id + 1000000000, {WHEN}, {WHEN}
        FROM stock_movements WHERE id BETWEEN :first AND :last AND kind = '{kind}'
    """


DOCUMENTS: Final = (
    _documents("sales_orders", "SO", "LIVRAT", "partner_id", "loading"),
    f"""
        INSERT INTO sales_order_lines (id, sales_order_id, position, article_id, quantity, warehouse_id)
        SELECT moved.id, document_id, (moved.id - 1) % 4, article_id, -moved.quantity, warehouse_id
        {_moved("loading")}
    """,
    _documents("purchase_orders", "PO", "RECEPTIONAT", "partner_id", "receipt"),
    f"""
        INSERT INTO purchase_order_items (id, purchase_order_id, position, article_id, quantity, received_quantity)
        SELECT moved.id, document_id, (moved.id - 1) % 200, article_id, moved.quantity, moved.quantity
        {_moved("receipt")}
    """,
    _documents("receptions", "RC", "FINALIZAT", "purchase_order_id", "receipt"),
    f"""
        INSERT INTO reception_items (id, reception_id, position, po_item_id, quantity_um3pl, quantity, lot_number)
        SELECT moved.id, document_id, (moved.id - 1) % 200, moved.id, moved.quantity, moved.quantity, lot_number
        {_moved("receipt")}
    """,
    f"""
        INSERT INTO stock_lots (stock_id, lot_number, quantity)
        SELECT stock_id, lot_number, iif((moved.id - 1) / {CYCLE} + 1 = :cycles, 7000000, 0)
        {_moved("receipt")} AND lot_number IS NOT NULL
    """,
)
ENDED: Final = (
    """
        UPDATE stock SET quantity = iif(track_serial, 1000000, 7000000), quarantined = 1000000 * track_serial
        FROM articles WHERE articles.id = article_id
    """,
    """
        INSERT INTO stock_serials (article_id, serial, stock_id, quarantined)
        SELECT article_id, serial, stock_id, 1
        FROM stock_movements AS moved CROSS JOIN stock ON stock.id = stock_id WHERE kind = 'quarantine'
    """,
)


def company_with_history(site: Installation, code: str, movements: int) -> Company:
    """Create a company whose ledger has this many movements, which must be a multiple of CYCLE."""
    from wmsd.db.engine.sqlite import connect

    cycles, rest = divmod(movements, CYCLE)
    if rest:
        raise Failed(f"{movements} movements are not a multiple of the cycle of {CYCLE}.")
    company = site.company(code)
    site.import_csv("warehouses", company, "code,name\nMAIN,Main\nEAST,East\n")
    site.import_csv("partners", company, "code,name,type\nP1,Partner,CLIENT\n")
    site.load_articles(company, ARTICLES)
    connection = connect(site.file(company))
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA foreign_keys = OFF")  # the doctor checks the foreign keys
    _commit(connection, BEGUN, {})
    with _indexed_afterwards(connection):
        for first_cycle in range(0, cycles, AT_ONCE):
            last = min(first_cycle + AT_ONCE, cycles) * CYCLE
            _commit(
                connection,
                [MOVEMENTS, *DOCUMENTS],
                {"first": first_cycle * CYCLE + 1, "last": last, "cycles": cycles},
            )
            progress(f"{code}: {last} of {movements} movements, with their documents")
    _commit(connection, ENDED, {})
    connection.execute("PRAGMA optimize = 0x10002")
    connection.close()
    return company


def _commit(connection: Any, statements: Any, parameters: dict[str, int]) -> None:
    connection.execute("BEGIN")
    for sql in statements:
        connection.execute(sql, parameters)
    connection.execute("COMMIT")


INDEXES: Final = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"


@contextmanager
def _indexed_afterwards(connection: Any) -> Iterator[None]:
    """Drop the indexes, and create them again at the end.

    Sorting all rows once is faster than a search for each row.
    """
    indexes = [index for table in TABLES for index in connection.execute(INDEXES, (table,))]
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    yield
    for name, sql in indexes:
        progress(f"index {name}")
        connection.execute(sql)
