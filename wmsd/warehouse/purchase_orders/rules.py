"""Which status may follow which, by hand and by receptions (decisions, section 3). Pure."""

from collections.abc import Callable, Iterable
from typing import Final, Literal, get_args

from wmsd.warehouse.documents.transitions import Transitions

Status = Literal["CREAT", "PARTIAL", "RECEPTIONAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"

BY_HAND: Final[Transitions[Status, str]] = Transitions(
    "purchase order",
    {
        ("CREAT", "ANULAT"): "nothing was received, and nothing will be",
        ("PARTIAL", "RECEPTIONAT"): "closed short: the rest will not be received",
    },
    lines_change_in=frozenset({"CREAT"}),
    fields_change_in=frozenset({"CREAT", "PARTIAL"}),
    lines="items",
)
BY_RECEPTIONS: Final[frozenset[tuple[Status, Status]]] = frozenset(
    {("CREAT", "PARTIAL"), ("CREAT", "RECEPTIONAT"), ("PARTIAL", "RECEPTIONAT")}
)
"""The transitions that a finalised reception makes; a person may make only those above. None moves stock."""
EXPECTS_MORE: Final[frozenset[Status]] = frozenset({"CREAT", "PARTIAL"})


def status_after_reception(items: Iterable[tuple[int, int]]) -> Status:
    """The status for these (ordered, received) quantities: RECEPTIONAT when nothing is left to come."""
    return "RECEPTIONAT" if all(received >= ordered for ordered, received in items) else "PARTIAL"


def may_be_received(status: Status, find_items: Callable[[], Iterable[tuple[int, int]]]) -> bool:
    """Whether an order takes receptions. `find_items` returns its (ordered, received) quantities: an order that
    receptions completed takes more, up to its tolerance; one that was closed by hand still lacks something, and
    takes none.
    """
    return status in EXPECTS_MORE or (
        status == "RECEPTIONAT" and status_after_reception(find_items()) == "RECEPTIONAT"
    )
