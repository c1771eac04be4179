"""Rules of sales orders: which status may follow which, and how a change of status affects stock (decisions,
section 3).

The rules have no side effects.
"""

from enum import Enum
from typing import Final, Literal, get_args

from wmsd.warehouse.documents.transitions import Transitions

Status = Literal["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"


class Effect(Enum):
    NONE = "stock stays as it is"
    LOAD = "the goods leave: quantity falls, the reservation is consumed"
    UNLOAD = "the goods come back: quantity rises, and is reserved again"
    RELEASE = "the reservation is released"


TRANSITIONS: Final[Transitions[Status, Effect]] = Transitions(
    "sales order",
    {
        ("CREAT", "IN_LUCRU"): Effect.NONE,
        ("CREAT", "ANULAT"): Effect.RELEASE,
        ("IN_LUCRU", "CREAT"): Effect.NONE,
        ("IN_LUCRU", "INCARCAT"): Effect.LOAD,
        ("IN_LUCRU", "ANULAT"): Effect.RELEASE,
        ("INCARCAT", "IN_LUCRU"): Effect.UNLOAD,
        ("INCARCAT", "LIVRAT"): Effect.NONE,
    },
    lines_change_in=frozenset({"CREAT"}),
    fields_change_in=frozenset({"CREAT", "IN_LUCRU", "INCARCAT"}),
    own_change_in={
        "ship_to": frozenset({"CREAT"}),
        "tracking_number": frozenset({"CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT"}),
    },
)
HOLDS_STOCK: Final[frozenset[Status]] = frozenset({"CREAT", "IN_LUCRU"})
LOADED: Final[Status] = "INCARCAT"
SHIPPED: Final[frozenset[Status]] = frozenset({"INCARCAT", "LIVRAT"})
