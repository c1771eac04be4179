"""The SQL of sales orders."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.listing import CursorQuery, PageQuery
from wmsd.base.results import CursorPage, Page, Record
from wmsd.base.strict_json import dumps
from wmsd.db.listing import Listing, Tally
from wmsd.db.record import record_sql
from wmsd.db.series import next_code
from wmsd.db.table import insert_sql, update_sql
from wmsd.db.transaction import Transaction
from wmsd.sales_orders.rules import INITIAL, STATUSES, Status
from wmsd.sales_orders.schema import SalesOrder, SalesOrderLine, SalesOrderStatusChanged

LINE: Final = record_sql(
    SalesOrderLine,
    {
        "id": "line.id",
        "article_code": "articles.code",
        "quantity": "line.quantity",
        "warehouse_id": "line.warehouse_id",
    },
)
LINES: Final = f"""(
    SELECT json_group_array({LINE} ORDER BY line.position)
    FROM sales_order_lines AS line CROSS JOIN articles ON articles.id = line.article_id
    WHERE line.sales_order_id = sales_orders.id
)"""
RECORD: Final = record_sql(SalesOrder, {"lines": LINES})
FIELDS: Final = (
    "code",
    "partner_id",
    "warehouse_id",
    "client_id",
    "external_ref",
    "notes",
    "requested_date",
)

LISTING: Final = Listing(
    source="sales_orders",
    order="id",
    filters={
        "status": "status = :status",
        "partner_id": "partner_id = :partner_id",
        "external_ref": "external_ref = :external_ref",
        "code": "code = :code",
        "updated_since": "change_seq > :updated_since",
    },
    count="sales_orders",
    tally=Tally("sales_order_counts", STATUSES),
)


def page(tx: Transaction, query: PageQuery) -> Page:
    return LISTING.page(tx, RECORD, query, query.filters())


def after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return LISTING.after(tx, RECORD, query, position, query.filters())


ALL: Final = f"SELECT {RECORD} FROM sales_orders ORDER BY id"


def every(tx: Transaction) -> Iterator[str]:
    """Every order, one at a time: for exports."""
    return (row[0] for row in tx.execute(ALL))


ONE: Final = f"SELECT {RECORD} FROM sales_orders WHERE id = ?"


def one(tx: Transaction, order_id: int) -> Record | None:
    text = tx.value(ONE, (order_id,))
    return None if text is None else Record(order_id, text)


STATUS_CHANGED: Final = f"""
    SELECT {record_sql(SalesOrderStatusChanged, {"previous_status": ":previous"})} FROM sales_orders WHERE id = :id
"""


def status_changed_data(tx: Transaction, order_id: int, previous: Status) -> str:
    text: str = tx.value(STATUS_CHANGED, {"id": order_id, "previous": previous})
    return text


ID_OF_CODE: Final = "SELECT id FROM sales_orders WHERE code = ?"


def id_of_code(tx: Transaction, code: str) -> int | None:
    found: int | None = tx.value(ID_OF_CODE, (code,))
    return found


ID_OF_EXTERNAL_REF: Final = "SELECT id FROM sales_orders WHERE external_ref = ?"


def id_of_external_ref(tx: Transaction, external_ref: str) -> int | None:
    found: int | None = tx.value(ID_OF_EXTERNAL_REF, (external_ref,))
    return found


COLUMNS_OF_ONE: Final = f"SELECT {', '.join(FIELDS)}, status FROM sales_orders WHERE id = ?"
LINES_OF_ONE: Final = """
    SELECT id, article_id, quantity, warehouse_id FROM sales_order_lines WHERE sales_order_id = ? ORDER BY position
"""


def columns(tx: Transaction, order_id: int) -> dict[str, Any] | None:
    """The order's own fields as they are stored, and its status."""
    return tx.record(COLUMNS_OF_ONE, (order_id,))


def lines(tx: Transaction, order_id: int) -> list[dict[str, Any]]:
    """The stored lines in their order."""
    return tx.records(LINES_OF_ONE, (order_id,))


LOADS: Final = """
    SELECT line.id, stock.id, line.quantity
    FROM sales_order_lines AS line
    CROSS JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
    WHERE line.sales_order_id = ? ORDER BY line.position
"""


def loads(tx: Transaction, order_id: int) -> list[tuple[int, int, int]]:
    """Each line's id, the stock record that it is taken from, and its quantity."""
    return tx.rows(LOADS, (order_id,))


INSERT: Final = insert_sql(
    "sales_orders", (*FIELDS, "status", "status_history", "change_seq", "created_at", "updated_at")
)


def insert(tx: Transaction, values: Mapping[str, object]) -> int:
    """A new order, with the next code of the series where none is given."""
    reached = dumps([{"status": INITIAL, "at": tx.timestamp}])
    code = values["code"] or next_code(tx, "SO", ID_OF_CODE)
    now = tx.timestamp
    row = {**values, "code": code, "status": INITIAL, "status_history": reached}
    return tx.insert(INSERT, {**row, "change_seq": tx.next_change(), "created_at": now, "updated_at": now})


INSERT_LINE: Final = """
    INSERT INTO sales_order_lines (id, sales_order_id, position, article_id, quantity, warehouse_id)
    VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_lines(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each with its own id, or a new one where that is None."""
    tx.executemany(
        INSERT_LINE,
        [
            (row["id"], order_id, position, row["article_id"], row["quantity"], row["warehouse_id"])
            for position, row in enumerate(rows)
        ],
    )


def replace_lines(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    tx.execute("DELETE FROM sales_order_lines WHERE sales_order_id = ?", (order_id,))
    insert_lines(tx, order_id, rows)


UPDATE: Final = update_sql("sales_orders", (*FIELDS, "change_seq", "updated_at"))


def update(tx: Transaction, order_id: int, values: Mapping[str, object]) -> None:
    tx.execute(UPDATE, {**values, "id": order_id, "change_seq": tx.next_change(), "updated_at": tx.timestamp})


MOVE: Final = """
    UPDATE sales_orders SET status = :status, change_seq = :change_seq, updated_at = :now,
        status_history = json_insert(status_history, '$[#]', json_object('status', :status, 'at', :now))
    WHERE id = :id
"""


def move(tx: Transaction, order_id: int, status: Status) -> None:
    tx.execute(MOVE, {"id": order_id, "status": status, "change_seq": tx.next_change(), "now": tx.timestamp})
