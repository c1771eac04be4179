"""Which status may follow which, and what each move does to stock (decisions, section 3). Pure."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, Literal, get_args

from wmsd.base.field_errors import FieldError
from wmsd.base.quantity import to_text
from wmsd.base.transitions import Transitions

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
)
HOLDS_STOCK: Final[frozenset[Status]] = frozenset({"CREAT", "IN_LUCRU"})
LOADED: Final[Status] = "INCARCAT"
SHIPPED: Final[frozenset[Status]] = frozenset({"INCARCAT", "LIVRAT"})


Place = tuple[int, int]
"""An article and a warehouse, by their ids."""


def wanted(lines: Iterable[tuple[Place | None, int]]) -> dict[Place, int]:
    """Sums lines by article and warehouse, in millionths. Lines without a known place are left out."""
    sums: dict[Place, int] = {}
    for place, quantity in lines:
        if place is not None:
            sums[place] = sums.get(place, 0) + quantity
    return sums


def shortages(lines: Iterable[tuple[Place | None, int]], available: Mapping[Place, int]) -> list[FieldError]:
    """An error for each line whose article and warehouse have less than all lines want together."""
    lines = list(lines)
    sums = wanted(lines)
    return [
        FieldError(
            "INSUFFICIENT_STOCK",
            f"lines.{number}.quantity",
            f"is more than there is: {to_text(available.get(place, 0))} available, {to_text(sums[place])} wanted",
        )
        for number, (place, _) in enumerate(lines)
        if place is not None and sums[place] > available.get(place, 0)
    ]
