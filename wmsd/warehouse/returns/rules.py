"""Rules of returns: which status may follow which, and how a disposition affects stock (decisions, section 3).

The rules have no side effects.
"""

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
    POST = "the goods are restocked, quarantined or written off, as the disposition of each line says"


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
"""The allowed changes of status. Dispositions belong to the lines, but may change in the statuses
`fields_change_in`, until the return is closed.
"""

DISPOSITIONS: Final[Mapping[Disposition, tuple[int, int, int]]] = {
    "RESTOC": (1, 0, 0),
    "CARANTINA": (1, 1, 0),
    "DISTRUS": (0, 0, 1),
}
"""Three factors for each disposition. The quantity of a line is multiplied by them. The results are added to the
balance, to the quarantined quantity and to the destroyed quantity.
"""
