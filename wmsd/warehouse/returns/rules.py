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
"""The allowed changes of status. Lines can change in the statuses `lines_change_in`. But the dispositions of lines
can change like the fields of the return: in the statuses `fields_change_in`, until the return is closed.
"""

DISPOSITIONS: Final[Mapping[Disposition, tuple[int, int, int]]] = {
    "RESTOC": (1, 0, 0),
    "CARANTINA": (1, 1, 0),
    "DISTRUS": (0, 0, 1),
}
"""Three factors for each disposition. The quantity of a line times the first factor is added to the balance. The
second factor is for the quarantined quantity, and the third factor for the destroyed quantity.
"""
