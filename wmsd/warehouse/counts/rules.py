"""Rules of counts: which status may follow which, and how a counted quantity changes stock (stock laws, section
7).

The rules have no side effects.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, get_args

from wmsd.base.quantity import SCALE, to_text
from wmsd.warehouse.documents.transitions import Transitions
from wmsd.warehouse.stock.parts import NOTHING, Amounts, Contents, PartKey, Parts
from wmsd.warehouse.stock.rules import Fault

Status = Literal["CREAT", "IN_LUCRU", "FINALIZAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"
BEGUN: Final[Status] = "IN_LUCRU"
FINAL: Final[Status] = "FINALIZAT"
OPEN: Final[frozenset[Status]] = frozenset({"CREAT", "IN_LUCRU"})
Row = dict[str, Any]
"""A line as it is stored: the columns of the table `count_lines`."""


class Effect(Enum):
    NONE = "stock stays as it is"
    BOOK = "the differences are booked"


TRANSITIONS: Final[Transitions[Status, Effect]] = Transitions(
    "count",
    {
        ("CREAT", "IN_LUCRU"): Effect.NONE,
        ("CREAT", "ANULAT"): Effect.NONE,
        ("IN_LUCRU", "FINALIZAT"): Effect.BOOK,
        ("IN_LUCRU", "ANULAT"): Effect.NONE,
    },
    lines_change_in=OPEN,
    fields_change_in=OPEN,
    own_change_in={"warehouse_id": frozenset(), "is_blind": frozenset({"CREAT"})},
)


def part_of(row: Mapping[str, Any]) -> PartKey:
    return PartKey(row["lot_number"], row["serial"])


def to_book(rows: Sequence[Row]) -> list[Row]:
    """Return the lines that can be booked: they were counted, and need not be counted again."""
    return [row for row in rows if row["counted_quantity"] is not None and not row["count_again"]]


def line_difference(row: Mapping[str, Any]) -> int:
    """Return the quantity that the booking of a counted line adds to stock. It is the counted quantity minus the
    ledger quantity at the time when the server received the counted quantity.
    """
    return int(row["counted_quantity"] - row["ledger_quantity"])


class Counted(NamedTuple):
    """The result of booking lines of one stock record. `after` is its new content. `faults` are the reasons why
    the lines cannot be booked.
    """

    after: Parts
    faults: list[Fault]


def counted_parts(before: Contents, rows: Sequence[Row]) -> Counted:
    """Add the difference of each line to the stock in `before`, and return the result. If the quantity of a lot or
    serial becomes 0, its quarantined quantity becomes 0 too.
    """
    after, faults = dict(before.parts), list[Fault]()
    for row in rows:
        goods, differs = part_of(row), line_difference(row)
        there = before.parts.get(goods, NOTHING)
        quantity = there.quantity + differs
        if quantity < 0:
            faults.append(Fault(goods, "quantity", _gone(-differs, there)))
        elif quantity and quantity < there.quarantined:
            faults.append(Fault(goods, "quantity", _quarantined(quantity, there)))
        elif goods.serial is not None and quantity > SCALE:
            faults.append(
                Fault(goods, "quantity", "would bring two units with the same serial into stock: count again")
            )
        elif quantity:
            after[goods] = Amounts(quantity, there.quarantined)
        else:
            after.pop(goods, None)
    return Counted(after, faults)


def _gone(taken: int, there: Amounts) -> str:
    return f"would remove {to_text(taken)}, but only {to_text(there.quantity)} are in stock now: count again"


def _quarantined(quantity: int, there: Amounts) -> str:
    held = to_text(there.quarantined)
    return (
        f"would leave only {to_text(quantity)} in stock, but {held} are in quarantine: first release enough "
        "goods from quarantine"
    )


def two_lots_of_a_serial(after: Parts) -> Iterator[Fault]:
    """Yield a fault for each serial that would be in two lots."""
    seen: dict[str, PartKey] = {}
    for goods in after:
        if goods.serial is not None and seen.setdefault(goods.serial, goods) != goods:
            yield Fault(goods, "serial", f"{goods.serial} is counted in two lots: keep the serial in only one lot")
