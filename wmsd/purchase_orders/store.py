"""The SQL of purchase orders."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.listing import PageQuery
from wmsd.base.results import Page, Record
from wmsd.base.strict_json import dumps
from wmsd.db.listing import Listing, Tally
from wmsd.db.record import record_sql
from wmsd.db.series import next_code
from wmsd.db.table import insert_sql, update_sql
from wmsd.db.transaction import Transaction
from wmsd.purchase_orders.rules import INITIAL, STATUSES, Status
from wmsd.purchase_orders.schema import PurchaseOrder, PurchaseOrderItem, PurchaseOrderStatusChanged

ITEM: Final = record_sql(
    PurchaseOrderItem, {"id": "item.id", "article_code": "articles.code", "quantity": "item.quantity"}
)
ITEMS: Final = f"""(
    SELECT json_group_array({ITEM} ORDER BY item.position)
    FROM purchase_order_items AS item CROSS JOIN articles ON articles.id = item.article_id
    WHERE item.purchase_order_id = purchase_orders.id
)"""
RECORD: Final = record_sql(PurchaseOrder, {"items": ITEMS})
FIELDS: Final = ("code", "partner_id", "warehouse_id", "external_ref", "expected_date", "notes")

LISTING: Final = Listing(
    source="purchase_orders",
    order="id",
    filters={
        "status": "status = :status",
        "partner_id": "partner_id = :partner_id",
        "external_ref": "external_ref = :external_ref",
        "code": "code = :code",
        "updated_since": "change_seq > :updated_since",
    },
    count="purchase_orders",
    tally=Tally("purchase_order_counts", STATUSES),
)


def page(tx: Transaction, query: PageQuery) -> Page:
    return LISTING.page(tx, RECORD, query, query.filters())


ALL: Final = f"SELECT {RECORD} FROM purchase_orders ORDER BY id"


def every(tx: Transaction) -> Iterator[str]:
    """Every order, one at a time: for exports."""
    return (row[0] for row in tx.execute(ALL))


ONE: Final = f"SELECT {RECORD} FROM purchase_orders WHERE id = ?"


def one(tx: Transaction, order_id: int) -> Record | None:
    text = tx.value(ONE, (order_id,))
    return None if text is None else Record(order_id, text)


STATUS_CHANGED: Final = f"""
    SELECT {record_sql(PurchaseOrderStatusChanged, {"previous_status": ":previous"})}
    FROM purchase_orders WHERE id = :id
"""


def status_changed_data(tx: Transaction, order_id: int, previous: Status) -> str:
    text: str = tx.value(STATUS_CHANGED, {"id": order_id, "previous": previous})
    return text


ID_OF_CODE: Final = "SELECT id FROM purchase_orders WHERE code = ?"


def id_of_code(tx: Transaction, code: str) -> int | None:
    found: int | None = tx.value(ID_OF_CODE, (code,))
    return found


ID_OF_EXTERNAL_REF: Final = "SELECT id FROM purchase_orders WHERE external_ref = ?"


def id_of_external_ref(tx: Transaction, external_ref: str) -> int | None:
    found: int | None = tx.value(ID_OF_EXTERNAL_REF, (external_ref,))
    return found


COLUMNS_OF_ONE: Final = f"SELECT {', '.join(FIELDS)}, status FROM purchase_orders WHERE id = ?"
ITEMS_OF_ONE: Final = """
    SELECT id, article_id, quantity, received_quantity FROM purchase_order_items
    WHERE purchase_order_id = ? ORDER BY position
"""


def columns(tx: Transaction, order_id: int) -> dict[str, Any] | None:
    """The order's own fields as they are stored, and its status."""
    return tx.record(COLUMNS_OF_ONE, (order_id,))


def items(tx: Transaction, order_id: int) -> list[dict[str, Any]]:
    """The stored items in their order."""
    return tx.records(ITEMS_OF_ONE, (order_id,))


INSERT: Final = insert_sql(
    "purchase_orders", (*FIELDS, "status", "status_history", "change_seq", "created_at", "updated_at")
)


def insert(tx: Transaction, values: Mapping[str, object]) -> int:
    """A new order, with the next code of the series where none is given."""
    reached = dumps([{"status": INITIAL, "at": tx.timestamp}])
    code = values["code"] or next_code(tx, "PO", ID_OF_CODE)
    now = tx.timestamp
    row = {**values, "code": code, "status": INITIAL, "status_history": reached}
    return tx.insert(INSERT, {**row, "change_seq": tx.next_change(), "created_at": now, "updated_at": now})


WRITE_ITEM: Final = """
    INSERT INTO purchase_order_items (id, purchase_order_id, position, article_id, quantity)
    VALUES (:id, :order_id, :position, :article_id, :quantity)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, article_id = excluded.article_id,
        quantity = excluded.quantity
"""
TAKE_AWAY: Final = """
    DELETE FROM purchase_order_items
    WHERE purchase_order_id = ? AND id NOT IN (SELECT value FROM json_each(?))
"""


def write_items(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """These items and no others: each with its own id, or a new one where that is None."""
    tx.execute(TAKE_AWAY, (order_id, dumps([row["id"] for row in rows if row["id"] is not None])))
    tx.executemany(
        WRITE_ITEM, [{**row, "order_id": order_id, "position": position} for position, row in enumerate(rows)]
    )


UPDATE: Final = update_sql("purchase_orders", (*FIELDS, "change_seq", "updated_at"))


def update(tx: Transaction, order_id: int, values: Mapping[str, object]) -> None:
    tx.execute(UPDATE, {**values, "id": order_id, "change_seq": tx.next_change(), "updated_at": tx.timestamp})


MOVE: Final = """
    UPDATE purchase_orders SET status = :status, change_seq = :change_seq, updated_at = :now,
        status_history = json_insert(status_history, '$[#]', json_object('status', :status, 'at', :now))
    WHERE id = :id
"""


def move(tx: Transaction, order_id: int, status: Status) -> None:
    tx.execute(MOVE, {"id": order_id, "status": status, "change_seq": tx.next_change(), "now": tx.timestamp})


DELETE: Final = "DELETE FROM purchase_orders WHERE id = ?"


def delete(tx: Transaction, order_id: int) -> None:
    tx.execute(TAKE_AWAY, (order_id, "[]"))
    tx.execute(DELETE, (order_id,))
