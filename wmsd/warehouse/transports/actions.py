"""The use cases of transports. Most calls come from a site, which has access to the orders and transports of its
own warehouse only.
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

    An order belongs to the site of its own warehouse, even if some of its lines are taken from another one: it is
    loaded as a whole. Follow `next_cursor` until it is null.
    """
    return store.orders_to_load(tx, site.warehouse_id, query.status or READY, query, position)


@operation(
    tag="Transports", answer="records", returns=OrderTransport, module="outbound", ability="sales-orders:read"
)
def list_order_transports(tx: Transaction, id: int) -> Records:
    """List the transports that a sales order is in, the newest first: at most 20."""
    return store.of_order(tx, id)


def _one(tx: Transaction, site: TransportSite, transport_ecc: str) -> Record:
    """The site's transport. Raises Problem (404), also for a transport of another site."""
    return or_not_found(store.one(tx, site.warehouse_id, transport_ecc), "transport")


@of_a_site(answer="record", returns=Transport)
def get_transport(tx: Transaction, site: TransportSite, transport_ecc: str) -> Record:
    """Get a transport.

    Its orders have their present status, even if somebody has moved them by hand.
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

    A new `transport_ecc` is answered with 201. The same plan again is answered with 200 and the transport as it is
    now. Another plan replaces the plan until the transport is loaded; after that, it may only leave out orders
    that were taken off by hand.
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

    All its orders move, or none. Its packaging goes out when it is loaded, and `packaging_returned` comes in when
    it is delivered. A repeated call, or one for an earlier status, is answered with 200 and changes nothing.
    """
    current = or_not_found(store.find(tx, site.warehouse_id, transport_ecc), "transport")
    apply_transport_move(tx, site, current, body)
    return _one(tx, site, transport_ecc)
