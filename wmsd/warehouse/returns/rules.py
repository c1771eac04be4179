"""Which status may follow which, and what becomes of the goods (decisions, section 3). Pure."""

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, get_args

from wmsd.warehouse.documents.transitions import Transitions

Status = Literal["CREAT", "RECEPTIONAT", "FINALIZAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"
FINAL: Final[Status] = "FINALIZAT"
Disposition = Literal["RESTOC", "CARANTINA", "DISTRUS"]


class Effect(Enum):
    NONE = "stock stays as it is"
    POST = "each line's disposition acts"


TRANSITIONS: Final[Transitions[Status, Effect]] = Transitions(
    "return",
    {
        ("CREAT", "RECEPTIONAT"): Effect.NONE,
        ("CREAT", "ANULAT"): Effect.NONE,
        ("RECEPTIONAT", "FINALIZAT"): Effect.POST,
    },
    lines_change_in=frozenset({"CREAT"}),
    fields_change_in=frozenset({"CREAT", "RECEPTIONAT"}),
)
"""Dispositions may change where fields may."""

DISPOSITIONS: Final[Mapping[Disposition, tuple[int, int, int]]] = {
    "RESTOC": (1, 0, 0),
    "CARANTINA": (1, 1, 0),
    "DISTRUS": (0, 0, 1),
}
"""For each disposition, the factors by which a line's quantity enters balance, quarantine and the destroyed
column.
"""
