"""The SQL of transports."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.results import CursorPage, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import change_columns, creation_columns
from wmsd.db.sql.lists import FEW_AT_ONCE, Listing
from wmsd.db.sql.records import record_sql
from wmsd.db.sql.statements import insert_sql, update_sql
from wmsd.warehouse.sales_orders.rules import Status as OrderStatus
from wmsd.warehouse.sales_orders.store import ORDER_LINES, ORDERS
from wmsd.warehouse.transports.rules import INITIAL, OVER, Status
from wmsd.warehouse.transports.schema import (
    OrderToLoad,
    OrderToLoadQuery,
    OrderTransport,
    Transport,
    TransportOrder,
    TransportPackaging,
)

PARTNER: Final = "(SELECT {} FROM partners WHERE partners.id = sales_orders.partner_id)"
OPEN_TRANSPORT: Final = f"""
    SELECT {{}} FROM transport_orders AS placed CROSS JOIN transports ON transports.id = placed.transport_id
    WHERE placed.sales_order_id = sales_orders.id AND transports.status <> '{OVER}'
"""
OF_ITS_SITE: Final = f"{OPEN_TRANSPORT} AND transports.warehouse_id = sales_orders.warehouse_id"
TO_LOAD: Final = record_sql(
    OrderToLoad,
    {
        "lines": ORDER_LINES.sql(ORDERS.name),
        "partner_code": PARTNER.format("code"),
        "partner_name": PARTNER.format("name"),
        "partner_address": PARTNER.format("address"),
        "transport_ecc": f"({OF_ITS_SITE.format('transports.transport_ecc')})",
    },
)
ORDERS_OF_SITE: Final = Listing(
    source="sales_orders",
    order="id",
    filters={"status": "status = :status", "warehouse_id": "warehouse_id = :warehouse_id"},
    count="sales_orders",
    at_once=FEW_AT_ONCE,
)


def orders_to_load(
    tx: Transaction, warehouse_id: int, statuses: tuple[str, ...], query: OrderToLoadQuery, position: int
) -> CursorPage:
    values = {"status": statuses, "warehouse_id": warehouse_id}
    return ORDERS_OF_SITE.after(tx, TO_LOAD, query, position, values)


class Order(NamedTuple):
    """The columns of a sales order that a transport needs."""

    id: int
    code: str
    status: OrderStatus
    partner_id: int
    warehouse_id: int


class Packed(NamedTuple):
    """Packaging of a transport. The quantity is in millionths. `partner_id` is None before the posting."""

    id: int
    packaging_type_id: int
    packaging_type_code: str
    quantity: int
    order_code: str | None
    partner_id: int | None


@dataclass(frozen=True, slots=True)
class Planned:
    """A stored transport, with the current state of its orders."""

    id: int
    status: Status
    vehicle: str | None
    driver: str | None
    orders: list[Order]
    packaging: list[Packed]


COLUMNS: Final = "sales_orders.id, sales_orders.code, sales_orders.status, partner_id, warehouse_id"
FIND: Final = "SELECT id, status, vehicle, driver FROM transports WHERE warehouse_id = ? AND transport_ecc = ?"
ORDERS_OF: Final = f"""
    SELECT {COLUMNS} FROM transport_orders AS placed
    CROSS JOIN sales_orders ON sales_orders.id = placed.sales_order_id
    WHERE placed.transport_id = ? ORDER BY placed.position
"""
PACKED: Final = """
    SELECT packed.id, packaging_type_id, packaging_types.code, quantity, sales_orders.code, packed.partner_id
    FROM transport_packaging AS packed
    CROSS JOIN packaging_types ON packaging_types.id = packed.packaging_type_id
    LEFT JOIN sales_orders ON sales_orders.id = packed.sales_order_id
    WHERE transport_id = ? AND direction = ? ORDER BY packed.id
"""


def find(tx: Transaction, warehouse_id: int, transport_ecc: str) -> Planned | None:
    found = tx.row(FIND, (warehouse_id, transport_ecc))
    if found is None:
        return None
    transport_id, status, vehicle, driver = found
    orders = [Order(*row) for row in tx.rows(ORDERS_OF, (transport_id,))]
    return Planned(transport_id, status, vehicle, driver, orders, packed(tx, transport_id, "OUT"))


def packed(tx: Transaction, transport_id: int, direction: str) -> list[Packed]:
    return [Packed(*row) for row in tx.rows(PACKED, (transport_id, direction))]


SHOWN_ORDERS: Final = f"""(
    SELECT json_group_array({record_sql(TransportOrder)} ORDER BY placed.position)
    FROM transport_orders AS placed CROSS JOIN sales_orders ON sales_orders.id = placed.sales_order_id
    WHERE placed.transport_id = transports.id
)"""
SHOWN_PACKED: Final = record_sql(
    TransportPackaging,
    {
        "packaging_type_code": "packaging_types.code",
        "order_code": "(SELECT code FROM sales_orders WHERE sales_orders.id = packed.sales_order_id)",
    },
)
SHOWN_PACKAGING: Final = f"""(
    SELECT json_group_array({SHOWN_PACKED} ORDER BY packed.id)
    FROM transport_packaging AS packed CROSS JOIN packaging_types ON packaging_types.id = packed.packaging_type_id
    WHERE packed.transport_id = transports.id AND packed.direction = '{{}}'
)"""
SHOWN: Final = record_sql(
    Transport,
    {
        "orders": SHOWN_ORDERS,
        "packaging": SHOWN_PACKAGING.format("OUT"),
        "packaging_returned": SHOWN_PACKAGING.format("IN"),
    },
)
ONE: Final = f"SELECT id, {SHOWN} FROM transports WHERE warehouse_id = ? AND transport_ecc = ?"


def one(tx: Transaction, warehouse_id: int, transport_ecc: str) -> Record | None:
    found = tx.row(ONE, (warehouse_id, transport_ecc))
    return None if found is None else Record(found[0], found[1], is_new=False)


MOST_OF_ORDER: Final = 20
OF_ORDER: Final = f"""
    SELECT group_concat(record, ',') FROM (
        SELECT {record_sql(OrderTransport)} AS record
        FROM transport_orders AS placed CROSS JOIN transports ON transports.id = placed.transport_id
        WHERE placed.sales_order_id = ? ORDER BY transports.id DESC LIMIT {MOST_OF_ORDER}
    )
"""


def of_order(tx: Transaction, order_id: int) -> Records:
    """Return the transports of the order, the newest first, at most `MOST_OF_ORDER`."""
    return Records(tx.value(OF_ORDER, (order_id,)) or "")


NAMED: Final = f"""
    SELECT {COLUMNS}, ({OPEN_TRANSPORT.format("json_array(transports.transport_ecc, transports.warehouse_id)")}
        AND transports.id IS NOT :transport_id)
    FROM sales_orders WHERE code IN (SELECT value FROM json_each(:codes))
"""


def orders_named(
    tx: Transaction, codes: Iterable[str], transport_id: int | None
) -> dict[str, tuple[Order, str | None]]:
    """Return each of these orders by its code, with the other transport that already has the order. Unknown codes
    are omitted.

    The other transport is JSON text: [transport_ecc, warehouse_id]. It is None if no other undelivered transport
    has the order. `transport_id` is the id of the transport that is being planned, or None for a new transport.
    """
    rows = tx.rows(NAMED, {"codes": dumps(list(codes)), "transport_id": transport_id})
    return {row[1]: (Order(*row[:-1]), row[-1]) for row in rows}


INSERT: Final = insert_sql(
    "transports",
    (
        *("transport_ecc", "warehouse_id", "status", "vehicle", "driver"),
        *("change_seq", "created_at", "updated_at"),
    ),
)
REPLAN: Final = update_sql("transports", ("vehicle", "driver", "change_seq", "updated_at"))
LOADED_AT: Final = "UPDATE transports SET status = 'INCARCAT', loaded_at = ? WHERE id = ?"
DELIVERED_AT: Final = "UPDATE transports SET status = 'LIVRAT', delivered_at = ? WHERE id = ?"
PLANNED_AGAIN: Final = f"UPDATE transports SET status = '{INITIAL}', loaded_at = NULL WHERE id = ?"
TOUCH: Final = update_sql("transports", ("change_seq", "updated_at"))


def insert(tx: Transaction, warehouse_id: int, transport_ecc: str, vehicle: str | None, driver: str | None) -> int:
    row = {
        "transport_ecc": transport_ecc,
        "warehouse_id": warehouse_id,
        "status": INITIAL,
        "vehicle": vehicle,
        "driver": driver,
        **creation_columns(tx),
    }
    return tx.insert(INSERT, row)


def replan(tx: Transaction, transport_id: int, vehicle: str | None, driver: str | None) -> None:
    tx.execute(REPLAN, {"vehicle": vehicle, "driver": driver, "id": transport_id, **change_columns(tx)})


def load(tx: Transaction, transport_id: int, loaded_at: str) -> None:
    tx.execute(LOADED_AT, (loaded_at, transport_id))
    touch(tx, transport_id)


def deliver(tx: Transaction, transport_id: int, delivered_at: str) -> None:
    tx.execute(DELIVERED_AT, (delivered_at, transport_id))
    touch(tx, transport_id)


def plan_again(tx: Transaction, transport_id: int) -> None:
    """Set the status of the transport back to CREAT. Call this when none of its orders is loaded any more."""
    tx.execute(PLANNED_AGAIN, (transport_id,))


def touch(tx: Transaction, transport_id: int) -> None:
    tx.execute(TOUCH, {"id": transport_id, **change_columns(tx)})


PLACE: Final = "INSERT INTO transport_orders (transport_id, sales_order_id, position) VALUES (?, ?, ?)"
LEAVE_OUT: Final = "DELETE FROM transport_orders WHERE transport_id = ? AND sales_order_id = ?"
PACK: Final = insert_sql(
    "transport_packaging",
    ("transport_id", "direction", "packaging_type_id", "quantity", "sales_order_id", "partner_id"),
)


def place(tx: Transaction, transport_id: int, order_ids: Sequence[int]) -> None:
    """Replace the orders of the transport by `order_ids`."""
    tx.execute("DELETE FROM transport_orders WHERE transport_id = ?", (transport_id,))
    tx.executemany(PLACE, [(transport_id, order_id, position) for position, order_id in enumerate(order_ids)])


def leave_out(tx: Transaction, transport_id: int, order_ids: Iterable[int]) -> None:
    tx.executemany(LEAVE_OUT, [(transport_id, order_id) for order_id in order_ids])


def clear_packaging(tx: Transaction, transport_id: int) -> None:
    tx.execute("DELETE FROM transport_packaging WHERE transport_id = ?", (transport_id,))


def pack(
    tx: Transaction,
    transport_id: int,
    direction: str,
    *,
    packaging_type_id: int,
    quantity: int,
    sales_order_id: int | None,
    partner_id: int | None,
) -> None:
    row = {
        "transport_id": transport_id,
        "direction": direction,
        "packaging_type_id": packaging_type_id,
        "quantity": quantity,
        "sales_order_id": sales_order_id,
        "partner_id": partner_id,
    }
    tx.execute(PACK, row)


def note_posted(tx: Transaction, posted: Iterable[tuple[int, int]]) -> None:
    """Mark packaging of a transport as posted. Each item of `posted` is (partner_id, id of the packaging)."""
    tx.executemany("UPDATE transport_packaging SET partner_id = ? WHERE id = ?", posted)


def unpack(tx: Transaction, packed_ids: Iterable[int]) -> None:
    tx.executemany("DELETE FROM transport_packaging WHERE id = ?", [(packed_id,) for packed_id in packed_ids])
