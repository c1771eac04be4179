"""Which status may follow which, and what each move does to stock (decisions, section 3). Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, get_args

from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.quantity import to_text

Status = Literal["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
INITIAL: Final[Status] = "CREAT"


class Effect(Enum):
    NONE = "stock stays as it is"
    LOAD = "the goods leave: quantity falls, the reservation is consumed"
    UNLOAD = "the goods come back: quantity rises, and is reserved again"
    RELEASE = "the reservation is released"


MOVES: Final[Mapping[tuple[Status, Status], Effect]] = {
    ("CREAT", "IN_LUCRU"): Effect.NONE,
    ("CREAT", "ANULAT"): Effect.RELEASE,
    ("IN_LUCRU", "CREAT"): Effect.NONE,
    ("IN_LUCRU", "INCARCAT"): Effect.LOAD,
    ("IN_LUCRU", "ANULAT"): Effect.RELEASE,
    ("INCARCAT", "IN_LUCRU"): Effect.UNLOAD,
    ("INCARCAT", "LIVRAT"): Effect.NONE,
}
"""Every other move is refused, but to the status that it has already: that does nothing, so retries are safe."""

MAY_CHANGE_LINES: Final[frozenset[Status]] = frozenset({"CREAT"})
MAY_CHANGE_FIELDS: Final[frozenset[Status]] = frozenset({"CREAT", "IN_LUCRU", "INCARCAT"})
HOLDS_STOCK: Final[frozenset[Status]] = frozenset({"CREAT", "IN_LUCRU"})


def allowed_from(status: Status) -> list[Status]:
    return [after for before, after in MOVES if before == status]


def effect_of(current: Status, requested: Status) -> Effect:
    """Raises Problem (409) when the one may not follow the other."""
    effect = MOVES.get((current, requested))
    if effect is None:
        raise _forbidden(f"A sales order that is {current} {_possible(current, requested)}.", current, requested)
    return effect


def route(current: Status, requested: Status) -> list[Status]:
    """The shortest way from the one to the other, without the first; empty when they are the same.

    Raises Problem (409) when there is none.
    """
    ways: list[list[Status]] = [[current]]
    for way in ways:
        if way[-1] == requested:
            return way[1:]
        ways += [[*way, after] for after in allowed_from(way[-1]) if after not in way]
    raise _forbidden(f"There is no way from {current} to {requested}.", current, requested)


class Step(Enum):
    CHANGE = "change the fields"
    MOVE = "move to the requested status"


def steps(current: Status, requested: Status, changes_fields: bool, changes_lines: bool) -> list[Step]:
    """In which order one request changes fields and moves: fields are changed on the side that allows it.

    Raises Problem (409) when the move is not allowed, or neither side allows the change.
    """
    moves = requested != current
    if moves:
        effect_of(current, requested)
    if not (changes_fields or changes_lines):
        return [Step.MOVE] if moves else []
    if _may_change(current, changes_lines):
        return [Step.CHANGE, Step.MOVE] if moves else [Step.CHANGE]
    if moves and _may_change(requested, changes_lines):
        return [Step.MOVE, Step.CHANGE]
    what = "Its lines" if changes_lines and current in MAY_CHANGE_FIELDS else "It"
    sentence = f"This sales order is {current}. {what} cannot be changed any more."
    if "CREAT" in allowed_from(current):
        sentence = f"This sales order is {current}. Move it back to CREAT to change its lines."
    raise _forbidden(sentence, current, requested if moves else None)


def _possible(current: Status, requested: Status) -> str:
    allowed = allowed_from(current)
    if not allowed:
        return "is final"
    return f"cannot become {requested}, only {', '.join(allowed[:-1])}{' or ' if allowed[1:] else ''}{allowed[-1]}"


def _may_change(status: Status, changes_lines: bool) -> bool:
    return status in (MAY_CHANGE_LINES if changes_lines else MAY_CHANGE_FIELDS)


def _forbidden(message: str, current: Status, requested: Status | None) -> Problem:
    details = {"current": current, "requested": requested, "allowed": allowed_from(current)}
    return Problem("INVALID_STATUS", message, details=details)


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong with an order's references or quantities, where, and under which code."""

    code: str
    path: str
    sentence: str


CODES: Final = (
    "INVALID_PARTNER",
    "INVALID_WAREHOUSE",
    "INVALID_ARTICLE",
    "VALIDATION_FAILED",
    "INSUFFICIENT_STOCK",
)
"""An answer has one code: of several kinds of flaws, the first of these."""
MESSAGES: Final[Mapping[str, str]] = {
    "INVALID_PARTNER": "The partner is not valid.",
    "INVALID_WAREHOUSE": "A warehouse is not valid.",
    "INVALID_ARTICLE": "An article is not valid.",
    "VALIDATION_FAILED": "The order is not valid.",
    "INSUFFICIENT_STOCK": "There is not enough stock; nothing was reserved.",
}
"""What each code says. An answer has one code: of several kinds of flaws, the first of these."""


def refuse_flaws(flaws: Iterable[Flaw]) -> None:
    """Raises Problem (422) with every flaw at once, when there is one."""
    errors: FieldErrors = {}
    codes = set()
    for flaw in flaws:
        errors.setdefault(flaw.path, []).append(flaw.sentence)
        codes.add(flaw.code)
    if errors:
        code = next(code for code in MESSAGES if code in codes)
        raise Problem(code, MESSAGES[code], errors=errors)


Place = tuple[int, int]
"""An article and a warehouse, by their ids."""


def wanted(lines: Iterable[tuple[Place | None, int]]) -> dict[Place, int]:
    """The lines of one article and warehouse summed, in millionths; without those whose place is not known."""
    sums: dict[Place, int] = {}
    for place, quantity in lines:
        if place is not None:
            sums[place] = sums.get(place, 0) + quantity
    return sums


def shortages(lines: Iterable[tuple[Place | None, int]], available: Mapping[Place, int]) -> list[Flaw]:
    """A flaw for each line of an article and warehouse that has less than all the lines of it want."""
    lines = list(lines)
    sums = wanted(lines)
    return [
        Flaw(
            "INSUFFICIENT_STOCK",
            f"lines.{number}.quantity",
            f"is more than there is: {to_text(available.get(place, 0))} available, {to_text(sums[place])} wanted",
        )
        for number, (place, _) in enumerate(lines)
        if place is not None and sums[place] > available.get(place, 0)
    ]
