"""The expected behaviour of stock: decisions, sections 2, 3 and 6, in plain Python that uses no code of wmsd.

Quantities are whole millionths. A place is an article and a warehouse, by their ids. The model stores no balances:
the stock is the sum of the ledger, and open documents tell the reserved quantities.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

MILLION = 1_000_000
ARTICLES = {1: "A", 2: "B"}
WAREHOUSES = {1: "MAIN", 2: "EAST"}
MIN_STOCK = {1: 10 * MILLION}

Place = tuple[int, int]
Held = list[tuple[Place, int]]
Json = dict[str, Any]
Event = tuple[str, Json]


def shown(millionths: int) -> float:
    """Return the quantity as a JSON number. A float is exact here: it has 15 digits, and no quantity has more."""
    return millionths / MILLION


def millionths(amount: float) -> int:
    return round(amount * MILLION)


class Movement(NamedTuple):
    kind: str
    place: Place
    quantity: int
    order_id: int | None = None
    line_id: int | None = None


class Balance(NamedTuple):
    quantity: int
    reserved: int
    quarantined: int = 0

    @property
    def available(self) -> int:
        return self.quantity - self.reserved - self.quarantined


EMPTY = Balance(0, 0)


class Stock:
    codes: Mapping[int, str] = ARTICLES

    def __init__(self, held: Callable[[], Held]) -> None:
        self.held = held
        self.ledger: list[Movement] = []
        self.opened: set[Place] = set()
        """Every place that was ever counted."""
        self.low: set[Place] = set()
        """The places with a stock.low event whose available stock has not been above min_stock since then."""

    def balances(self) -> dict[Place, Balance]:
        quantity, reserved = dict.fromkeys(self.opened, 0), dict.fromkeys(self.opened, 0)
        for movement in self.ledger:
            quantity[movement.place] += movement.quantity
        for place, held in self.held():
            reserved[place] += held
        return {place: Balance(quantity[place], reserved[place]) for place in self.opened}

    def count(self, counts: Sequence[tuple[Place, int]]) -> tuple[set[tuple[int, str]], list[Event]]:
        """Set the counted quantities, all or nothing. Return row and column of each error, and the events."""
        balances, seen, errors = self.balances(), set[Place](), set[tuple[int, str]]()
        for row, (place, counted) in enumerate(counts):
            if place in seen:
                errors.add((row, "article_code"))
            elif counted < balances.get(place, EMPTY).reserved:
                errors.add((row, "quantity"))
            seen.add(place)
        if errors:
            return errors, []
        telling = Telling(self)
        for place, counted in counts:
            self.opened.add(place)
            if difference := counted - balances.get(place, EMPTY).quantity:
                self.ledger.append(Movement("count", place, difference))
        return set(), telling.end()


class Telling:
    """The events of one transaction: those of the documents, then `stock.updated` once for each place that
    changed.
    """

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.events: list[Event] = []
        self.changed: set[Place] = set()
        self.before = self.now = stock.balances()

    def tell(self, name: str, data: Json) -> None:
        """Record an event. Call this after each change, so that a change that is undone later is reported too."""
        self.events.append((name, data))
        self._look()

    def end(self) -> list[Event]:
        self._look()
        low = [place for place in sorted(self.changed) if self._falls_low(place)]
        updated = [("stock.updated", self._data(place)) for place in sorted(self.changed)]
        told_low = [("stock.low", {**self._data(place), "min_stock": shown(MIN_STOCK[place[0]])}) for place in low]
        return [*self.events, *updated, *told_low]

    def _look(self) -> None:
        now = self.stock.balances()
        self.changed |= {place for place in now if now[place] != self.now.get(place, EMPTY)}
        self.now = now

    def _falls_low(self, place: Place) -> bool:
        """Return True if the stock becomes low. After such a fall, nothing is reported until available was above
        min_stock again.
        """
        min_stock, available = MIN_STOCK.get(place[0]), self.now[place].available
        if min_stock is None or available > min_stock:
            self.stock.low.discard(place)
            return False
        falls = available < self.before.get(place, EMPTY).available and place not in self.stock.low
        if falls:
            self.stock.low.add(place)
        return falls

    def _data(self, place: Place) -> Json:
        article, warehouse = place
        balance = self.now[place]
        return {
            "article_id": article,
            "article_code": self.stock.codes[article],
            "warehouse_id": warehouse,
            "quantity": shown(balance.quantity),
            "available": shown(balance.available),
        }
