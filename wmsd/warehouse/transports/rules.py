"""Rules for the status of a transport and of its orders (decisions, section 4). The rules have no side effects."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Final, Literal

from wmsd.warehouse.sales_orders.rules import Status as OrderStatus

Status = Literal["CREAT", "INCARCAT", "LIVRAT"]
Requested = Literal["INCARCAT", "LIVRAT"]
INITIAL: Final[Status] = "CREAT"
OVER: Final[Status] = "LIVRAT"


class Effect(Enum):
    NONE = "nothing: it is there already, or past it"
    LOAD = "its orders are loaded, its packaging goes out"
    DELIVER = "its orders are delivered, what came back is recorded"
    LOAD_AND_DELIVER = "both, at once"


TRANSITIONS: Final[Mapping[tuple[Status, Requested], Effect]] = {
    ("CREAT", "INCARCAT"): Effect.LOAD,
    ("CREAT", "LIVRAT"): Effect.LOAD_AND_DELIVER,
    ("INCARCAT", "INCARCAT"): Effect.NONE,
    ("INCARCAT", "LIVRAT"): Effect.DELIVER,
    ("LIVRAT", "INCARCAT"): Effect.NONE,
    ("LIVRAT", "LIVRAT"): Effect.NONE,
}
"""The effect of a call. The key is the current status of the transport and the requested status. A repeated or
late call has no effect, and is not an error.
"""
LOADS: Final[frozenset[Effect]] = frozenset({Effect.LOAD, Effect.LOAD_AND_DELIVER})

LOADING: Final[Mapping[OrderStatus, tuple[OrderStatus, ...]]] = {
    "IN_LUCRU": ("INCARCAT",),
    "INCARCAT": (),
    "LIVRAT": (),
}
DELIVERING: Final[Mapping[OrderStatus, tuple[OrderStatus, ...]]] = {
    "INCARCAT": ("LIVRAT",),
    "LIVRAT": (),
}
BOTH: Final[Mapping[OrderStatus, tuple[OrderStatus, ...]]] = {
    "IN_LUCRU": ("INCARCAT", "LIVRAT"),
    "INCARCAT": ("LIVRAT",),
    "LIVRAT": (),
}
ORDER_MOVES: Final[Mapping[Effect, Mapping[OrderStatus, tuple[OrderStatus, ...]]]] = {
    Effect.LOAD: LOADING,
    Effect.DELIVER: DELIVERING,
    Effect.LOAD_AND_DELIVER: BOTH,
}
"""The statuses that a call gives to an order, one after the other. The first key is the effect of the call. The
second key is the current status of the order. If the order's status is not a key, the call is forbidden.
"""

MAY_BE_PLANNED: Final[frozenset[OrderStatus]] = frozenset({"CREAT", "IN_LUCRU", "INCARCAT"})
ON_THE_TRUCK: Final[frozenset[OrderStatus]] = frozenset({"INCARCAT", "LIVRAT"})
CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""How far a planner's clock may be ahead of the server's clock. A call with a later time is refused."""


def moves_from(status: Status) -> list[Requested]:
    """Return the statuses to which a call can change a transport with the status `status`."""
    return [
        requested
        for (before, requested), effect in TRANSITIONS.items()
        if before == status and effect is not Effect.NONE
    ]


def why_not(effect: Effect, code: str, status: OrderStatus) -> str:
    """Return a sentence that says why an order forbids the call. `code` and `status` are the code and the status
    of the order.
    """
    if effect is Effect.DELIVER and status in ("CREAT", "IN_LUCRU"):
        return f"{code} is {status}, because it was unloaded: load it again, or leave it out of the transport"
    if status == "ANULAT":
        return f"{code} is ANULAT: leave it out of the transport"
    return f"{code} is {status}: give the order the status IN_LUCRU first, or leave it out of the transport"
