"""Rules of receptions: which status may follow which, and how much may be received (decisions, section 3).

The rules have no side effects.
"""

from enum import Enum
from typing import Final, Literal, get_args

from wmsd.base.quantity import MAXIMUM, SCALE
from wmsd.warehouse.documents.transitions import Transitions

Status = Literal["CREAT", "IN_LUCRU", "FINALIZAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"
FINAL: Final[Status] = "FINALIZAT"
CANCELLED: Final[Status] = "ANULAT"
AT_ONCE: Final[frozenset[Status]] = frozenset({INITIAL, FINAL})
"""The statuses in which a reception can be created."""


class Effect(Enum):
    NONE = "stock stays as it is"
    POST = (
        "the goods are in stock: quantity rises, and the purchase order counts them as received; this cannot "
        "be undone"
    )


TRANSITIONS: Final[Transitions[Status, Effect]] = Transitions(
    "reception",
    {
        ("CREAT", "IN_LUCRU"): Effect.NONE,
        ("CREAT", "FINALIZAT"): Effect.POST,
        ("CREAT", "ANULAT"): Effect.NONE,
        ("IN_LUCRU", "FINALIZAT"): Effect.POST,
        ("IN_LUCRU", "ANULAT"): Effect.NONE,
    },
    lines_change_in=frozenset({"CREAT", "IN_LUCRU"}),
    fields_change_in=frozenset({"CREAT", "IN_LUCRU"}),
    lines="selected_items",
)


def base_quantity(quantity_um3pl: int, um3pl_factor: int) -> int | None:
    """Convert a quantity from the article's `unit_3pl`, such as boxes, to the article's `unit`, such as pieces.
    Both quantities and the factor are in millionths.

    Return None if the result has more than six decimal places.
    """
    quantity, rest = divmod(quantity_um3pl * um3pl_factor, SCALE)
    return None if rest else quantity


def most_receivable(ordered: int, over_receipt_pct: int) -> int:
    """Return the maximum quantity that may be received of an order item, in all receptions together. The tolerance
    `over_receipt_pct` is in millionths of a percent.
    """
    return min(ordered + ordered * over_receipt_pct // (100 * SCALE), MAXIMUM)
