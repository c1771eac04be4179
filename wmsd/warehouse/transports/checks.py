"""The doctor's checks of transports. The ledger must contain the packaging of each transport, and an order may be
on only one transport at a time.
"""

from typing import Final

from wmsd.contract.invariants import Check, unequal_sums
from wmsd.warehouse.packaging.store import OWED
from wmsd.warehouse.transports.rules import OVER
from wmsd.warehouse.transports.transport_packaging import ENTITY

NAMED: Final = """
    (SELECT transports.transport_ecc || ' of ' || warehouses.code FROM transports
     JOIN warehouses ON warehouses.id = transports.warehouse_id WHERE transports.id = transport_id)
"""
OF_WAREHOUSE: Final = "{transport} of {warehouse}"
PACKAGING_ROW: Final = "{transport}, packaging line {row}"
IS_POSTED, IS_NOT_POSTED, ONE = "posted", "not posted", "at most 1"
KEYS: Final = "transport_id, packaging_type_id, partner_id"
PACKED: Final = f"SELECT {KEYS}, {OWED} AS amount FROM transport_packaging WHERE partner_id IS NOT NULL"
MOVED: Final = f"""
    SELECT document_id AS transport_id, packaging_type_id, partner_id, {OWED} AS amount
    FROM packaging_movements WHERE document_type = '{ENTITY}'
"""
PACKAGING: Final = f"""
    SELECT {NAMED} || ', ' || (SELECT code FROM packaging_types WHERE id = packaging_type_id), expected, found
    FROM ({unequal_sums(KEYS, PACKED, MOVED)})
"""
POSTED: Final = f"""
    SELECT {NAMED} || ', packaging ' || packed.id,
        iif(transports.status = 'CREAT', '{IS_NOT_POSTED}', '{IS_POSTED}'),
        iif(packed.partner_id IS NULL, '{IS_NOT_POSTED}', '{IS_POSTED}')
    FROM transport_packaging AS packed JOIN transports ON transports.id = packed.transport_id
    WHERE (transports.status = 'CREAT') <> (packed.partner_id IS NULL)
"""
ON_ONE: Final = f"""
    SELECT sales_orders.code, '{ONE}', count(*)
    FROM transport_orders
    JOIN transports ON transports.id = transport_orders.transport_id AND transports.status <> '{OVER}'
    JOIN sales_orders ON sales_orders.id = transport_orders.sales_order_id
    GROUP BY sales_orders.id HAVING count(*) > 1
"""
DELIVERED: Final = f"""
    SELECT {NAMED} || ', ' || sales_orders.code, 'LIVRAT', sales_orders.status
    FROM transport_orders
    JOIN transports ON transports.id = transport_orders.transport_id AND transports.status = '{OVER}'
    JOIN sales_orders ON sales_orders.id = transport_orders.sales_order_id
    WHERE sales_orders.status <> 'LIVRAT'
"""

CHECKS: Final = (
    Check("a transport's packaging must be in the packaging ledger", PACKAGING, words=(OF_WAREHOUSE,)),
    Check(
        "the packaging of a transport must be posted when the transport is loaded, and not before",
        POSTED,
        in_millionths=False,
        words=(PACKAGING_ROW, OF_WAREHOUSE, IS_POSTED, IS_NOT_POSTED),
    ),
    Check("an order must be on only one transport at a time", ON_ONE, in_millionths=False, words=(ONE,)),
    Check(
        "every order of a delivered transport must be delivered",
        DELIVERED,
        in_millionths=False,
        words=(OF_WAREHOUSE,),
    ),
)
