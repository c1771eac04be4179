"""Rules of purchase orders: which changes of status users and receptions may cause (decisions, section 3).

The rules have no side effects.
"""

from collections.abc import Callable, Iterable
from typing import Final, Literal, get_args

from wmsd.warehouse.documents.transitions import Transitions

Status = Literal["CREAT", "PARTIAL", "RECEPTIONAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"

BY_HAND: Final[Transitions[Status, str]] = Transitions(
    "purchase order",
    {
        ("CREAT", "ANULAT"): "nothing was received, and nothing will be received",
        ("PARTIAL", "RECEPTIONAT"): "closed short: the rest will not be received",
    },
    lines_change_in=frozenset({"CREAT"}),
    fields_change_in=frozenset({"CREAT", "PARTIAL"}),
    lines="items",
)
BY_RECEPTIONS: Final[frozenset[tuple[Status, Status]]] = frozenset(
    {("CREAT", "PARTIAL"), ("CREAT", "RECEPTIONAT"), ("PARTIAL", "RECEPTIONAT")}
)
"""The changes of an order's status that a finalised reception causes. `BY_HAND` has the changes that users may
cause. Neither kind of change affects stock.
"""
EXPECTS_MORE: Final[frozenset[Status]] = frozenset({"CREAT", "PARTIAL"})


def status_after_reception(items: Iterable[tuple[int, int]]) -> Status:
    """Return the status of an order after a reception: RECEPTIONAT if all goods are received, otherwise PARTIAL.
    Each item is (ordered quantity, received quantity).
    """
    return "RECEPTIONAT" if all(received >= ordered for ordered, received in items) else "PARTIAL"


def may_be_received(status: Status, find_items: Callable[[], Iterable[tuple[int, int]]]) -> bool:
    """Return True if an order accepts receptions. `find_items` returns (ordered quantity, received quantity) for
    each item of the order.

    Receptions close an order when all its goods are received. An order that was closed in this way still accepts
    further goods, up to its tolerance. But if a user has closed the order before all goods were received, it
    accepts no more receptions.
    """
    return status in EXPECTS_MORE or (
        status == "RECEPTIONAT" and status_after_reception(find_items()) == "RECEPTIONAT"
    )
