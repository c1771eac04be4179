"""The operations on transports. Most calls come from sites. A site is a warehouse whose transport planner, a
program, signs in with its own token.

A site can only access the orders and transports of its own warehouse.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from wmsd.base.problems import or_not_found
from wmsd.contract.context import TransportSite
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.transports import store
from wmsd.warehouse.transports.planning import is_same, leave_out, sent_references, write_plan
from wmsd.warehouse.transports.rules import INITIAL
from wmsd.warehouse.transports.schema import (
    OrderToLoad,
    OrderToLoadQuery,
    OrderTransport,
    Transport,
    TransportFields,
    TransportStatusMove,
)
from wmsd.warehouse.transports.status_moves import apply_transport_move

READY: Final = ("IN_LUCRU",)

of_a_site = partial(operation, tag="Transports", scope="site", module="outbound")


@of_a_site(answer="cursor", returns=OrderToLoad)
def list_orders_to_load(
    tx: Transaction, site: TransportSite, query: OrderToLoadQuery, position: int
) -> CursorPage:
    """List the site's orders that are ready to load.

    An order belongs to the site of its own warehouse, even if some of its lines take goods from another warehouse.
    This is because an order is loaded as a whole. Follow `next_cursor` until it is null.
    """
    return store.orders_to_load(tx, site.warehouse_id, query.status or READY, query, position)


@operation(
    tag="Transports", answer="records", returns=OrderTransport, module="outbound", ability="sales-orders:read"
)
def list_order_transports(tx: Transaction, id: int) -> Records:
    """List the transports of a sales order.

    The newest transport comes first. The list has at most 20 transports.
    """
    return store.of_order(tx, id)


def _one(tx: Transaction, site: TransportSite, transport_ecc: str) -> Record:
    """Return the site's transport. Raise Problem (404) if this site has no such transport."""
    return or_not_found(store.one(tx, site.warehouse_id, transport_ecc), "transport")


@of_a_site(answer="record", returns=Transport)
def get_transport(tx: Transaction, site: TransportSite, transport_ecc: str) -> Record:
    """Get a transport.

    Each of its orders has its current status. A user may have changed this status by hand.
    """
    return _one(tx, site, transport_ecc)


@of_a_site(
    answer="record",
    returns=Transport,
    writes=True,
    creates=True,
    also_shown_with=200,
    codes=("INVALID_STATUS",),
    references=sent_references,
    events=("packaging.movement_recorded",),
)
def plan_transport(tx: Transaction, site: TransportSite, body: TransportFields) -> Record:
    """Plan a transport, or change its plan.

    If the `transport_ecc` is new, the answer is 201. If the plan is the same as the stored plan, the answer is 200
    with the current transport. A different plan replaces the stored plan until the transport is loaded. After
    loading, a new plan may only omit orders that users have unloaded by hand.
    """
    current = store.find(tx, site.warehouse_id, body.transport_ecc)
    if current is None or (current.status == INITIAL and not is_same(current, body)):
        write_plan(tx, site, body, current)
    elif not is_same(current, body):
        leave_out(tx, site, body, current)
    return replace(_one(tx, site, body.transport_ecc), is_new=current is None, name=body.transport_ecc)


@of_a_site(
    answer="record",
    returns=Transport,
    writes=True,
    codes=("INVALID_STATUS",),
    events=("sales_order.status_changed", "packaging.movement_recorded", "stock.updated", "stock.low"),
    precondition=_one,
)
def move_transport(tx: Transaction, site: TransportSite, transport_ecc: str, body: TransportStatusMove) -> Record:
    """Load or deliver a transport.

    Either the status of all its orders changes, or none. The packaging goes out when the transport is loaded, and
    `packaging_returned` comes in when the transport is delivered. A repeated call, or a call for an earlier
    status, changes nothing, and the answer is 200.
    """
    current = or_not_found(store.find(tx, site.warehouse_id, transport_ecc), "transport")
    apply_transport_move(tx, site, current, body)
    return _one(tx, site, transport_ecc)
