"""The law of counts (stock laws, 7.2), tested by random sequences of movements, entries and bookings. A booking
adds the counted quantity minus the ledger's quantity when the count arrived. Later movements stay in effect.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.support.goods import LOTTED, PLAIN, Store
from tests.support.thorough import IS_THOROUGH
from tests.support.world import Answer
from tests.warehouse.counts.counting import PATH, make_count

SEEDS = range(40 if IS_THOROUGH else 3)
STEPS = 60
PARTS: tuple[tuple[int, str | None], ...] = ((PLAIN, None), (LOTTED, "L1"), (LOTTED, "L2"), (LOTTED, None))
Part = tuple[int, str | None]


@dataclass
class Line:
    """The expected state of a line. `seen` and `arrived` are positions in the history of movements."""

    id: int
    part: Part
    seen: int
    counted: float | None = None
    ledger: float | None = None
    is_again: bool = False
    arrived: int = 0


@dataclass
class Law:
    """The expected balances and open counts. An entry of the history is the part that moved, and whether a count
    corrected it.
    """

    balances: dict[Part, float]
    history: list[tuple[Part, bool]] = field(default_factory=list)
    open: dict[int, list[Line]] = field(default_factory=dict)

    def moves(self, part: Part, by: float, is_count: bool = False) -> None:
        if by:
            self.balances[part] += by
            self.history.append((part, is_count))

    def has_moved(self, part: Part, since: int, is_count: bool | None = None) -> bool:
        return any(each == part and is_count in (None, by_count) for each, by_count in self.history[since:])

    def arrives(self, line: Line, counted: float, seen: int | None) -> None:
        line.is_again = self.has_moved(line.part, line.seen if seen is None else seen)
        line.counted, line.ledger = counted, self.balances[line.part]
        line.seen = line.arrived = len(self.history)

    def books(self, count: int) -> dict[int, float | None]:
        """Book the count, and return the booked difference by line; return an empty dict if the booking must be
        refused.
        """
        lines = self.open[count]
        due = [
            line
            for line in lines
            if line.counted is not None and not line.is_again and not self.has_moved(line.part, line.arrived, True)
        ]
        differences = {line.id: line.counted - line.ledger for line in due}  # type: ignore[operator]  # both are set
        if due and all(self.balances[line.part] + differences[line.id] >= 0 for line in due):
            del self.open[count]
            for line in due:
                self.moves(line.part, differences[line.id], is_count=True)
                self.corrects(line, differences[line.id])
            return {line.id: differences.get(line.id) for line in lines}
        return {}

    def corrects(self, booked: Line, by: float) -> None:
        for line in (line for lines in self.open.values() for line in lines):
            if by and line.part == booked.part and line.counted is not None:
                line.is_again = True


@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_comes_between(store: Store, seed: int) -> None:
    random = Random(seed)
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,8,\nL,MAIN,L2,,6,\nL,MAIN,,,4,\n")
    law = Law(dict(zip(PARTS, (10.0, 8.0, 6.0, 4.0), strict=True)))
    seen: list[tuple[str, int]] = []
    booked = 0
    for _ in range(STEPS):
        store.world.clock.advance(1)
        seen.append((store.world.clock.now().isoformat(), len(law.history)))
        store.world.clock.advance(1)
        match random.choice(["move", "move", "list", "enter", "enter", "enter", "book"]):
            case "move":
                part = random.choice(PARTS)
                by = random.choice([-2, -0.5, 1, 3])
                if law.balances[part] + by >= 0:
                    await store.adjust(part[0], by=by, lot_number=part[1])
                    law.moves(part, by)
            case "list" if len(law.open) < 3:
                made = await make_count(store, {"article_id": 1}, {"article_id": 2, "lot_number": "L1"})
                law.open[made.id] = [_line(each, len(law.history)) for each in made.body["lines"]]
            case "enter" if law.open:
                await _enter(store, law, random, seen)
            case "book" if law.open:
                booked += await _book(store, law, random.choice(list(law.open)))
        assert await _balances(store) == {part: there for part, there in law.balances.items() if there}
    assert booked
    await store.is_right()


def _line(shown: dict[str, Any], seen: int) -> Line:
    return Line(shown["id"], (shown["article_id"], shown["lot_number"]), seen)


async def _balances(store: Store) -> dict[Part, float]:
    found: dict[Part, float] = {}
    for article in (PLAIN, LOTTED):
        found |= {(article, lot): there for (lot, _), (there, _) in (await store.parts(article)).items()}
    return found


async def _enter(store: Store, law: Law, random: Random, seen: list[tuple[str, int]]) -> None:
    """Enter a number for a listed line or for goods that were found, with or without the time at which the counter
    saw them.
    """
    count, part = random.choice(list(law.open)), random.choice(PARTS)
    counted = max(0, law.balances[part] + random.choice([-1, 0, 0, 0.5]))
    body: dict[str, Any] = {"article_id": part[0], "lot_number": part[1], "counted_quantity": counted}
    moment, place = random.choice([(None, None), random.choice(seen[-5:])])
    if moment is not None:
        body["seen_at"] = moment
    line = next((line for line in law.open[count] if line.part == part), None)
    is_new_count = line is None or line.counted != counted or line.is_again or moment is not None
    answer = await store.world.send("PATCH", f"{PATH}/{count}", {"lines": [body]})
    assert answer.status == 200, answer.raw
    if line is None:
        line = _line(answer.body["lines"][-1], len(law.history))
        law.open[count].append(line)
    if is_new_count:
        law.arrives(line, counted, place)
    _compare(answer, law.open[count])


def _compare(answer: Answer, lines: list[Line]) -> None:
    names = ("id", "counted_quantity", "ledger_quantity", "count_again")
    shown = [tuple(each[name] for name in names) for each in answer.body["lines"]]
    assert shown == [(line.id, line.counted, line.ledger, line.is_again) for line in lines]


async def _book(store: Store, law: Law, count: int) -> int:
    expected = law.books(count)
    answer = await store.world.send("POST", f"{PATH}/{count}/book")
    assert (answer.status == 200) == bool(expected), answer.raw
    if answer.status == 200:
        assert {line["id"]: line["booked_quantity"] for line in answer.body["lines"]} == expected
    return len(expected)
