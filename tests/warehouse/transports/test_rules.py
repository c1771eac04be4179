"""The effect of a call on a transport, and the orders that forbid the call."""

import pytest

from wmsd.warehouse.sales_orders.rules import STATUSES
from wmsd.warehouse.sales_orders.rules import Status as OrderStatus
from wmsd.warehouse.transports.rules import ORDER_MOVES, Effect, Requested, Status, moves_from, why_not

UNLOADED = "T is {}, because it was unloaded: load it again, or leave it out of the transport"
CANCELLED = "T is ANULAT: leave it out of the transport"
NOT_READY = "T is {}: give the order the status IN_LUCRU first, or leave it out of the transport"


@pytest.mark.parametrize(
    ("status", "moves"), [("CREAT", ["INCARCAT", "LIVRAT"]), ("INCARCAT", ["LIVRAT"]), ("LIVRAT", [])]
)
def test_what_a_call_can_change(status: Status, moves: list[Requested]) -> None:
    assert moves_from(status) == moves


@pytest.mark.parametrize(
    ("effect", "forbidden"),
    [
        (Effect.LOAD, {"CREAT": NOT_READY, "ANULAT": CANCELLED}),
        (Effect.DELIVER, {"CREAT": UNLOADED, "IN_LUCRU": UNLOADED, "ANULAT": CANCELLED}),
        (Effect.LOAD_AND_DELIVER, {"CREAT": NOT_READY, "ANULAT": CANCELLED}),
    ],
)
def test_an_order_that_forbids_the_call_says_why(effect: Effect, forbidden: dict[OrderStatus, str]) -> None:
    assert set(STATUSES) - set(ORDER_MOVES[effect]) == set(forbidden)
    for status, sentence in forbidden.items():
        assert why_not(effect, "T", status) == sentence.format(status)
    assert why_not(Effect.LOAD, "T", "IN_LUCRU") == NOT_READY.format("IN_LUCRU")
