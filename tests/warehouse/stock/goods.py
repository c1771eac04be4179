"""The expected behaviour of stock with lots and serials: decisions, sections 2 and 3, in plain Python.

The age of a lot counts from its first entry into a place, the age of a serial from its last entry. Goods without a
lot leave last.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.warehouse.stock.model import MILLION, Balance, Place, Stock


class Article(NamedTuple):
    code: str
    tracks_lots: bool = False
    tracks_serials: bool = False
    factor: int = MILLION
    """The number of units in one unit_3pl, in millionths."""
    over_receipt_pct: int | None = None
    """In millionths of a percent; None means the company's setting."""


A, B, LOT, SERIAL, BOX, THIRD, LENIENT, PAIR = 1, 2, 4, 5, 6, 7, 8, 9
GOODS = {
    A: Article("A"),
    B: Article("B"),
    LOT: Article("LOT", tracks_lots=True),
    SERIAL: Article("SERIAL", tracks_serials=True),
    BOX: Article("BOX", factor=12 * MILLION),
    THIRD: Article("THIRD", factor=333_333),
    LENIENT: Article("LENIENT", over_receipt_pct=10 * MILLION),
    PAIR: Article("PAIR", tracks_lots=True, tracks_serials=True, factor=2 * MILLION),
}


class Part(NamedTuple):
    """A part of a quantity; a part with a serial is one unit."""

    quantity: int
    lot: str | None = None
    serial: str | None = None


class Moved(NamedTuple):
    """An entry of the ledger, as it is read back."""

    kind: str
    article: int
    warehouse: int
    quantity: int
    quarantined: int
    destroyed: int
    lot: str | None
    serial: str | None
    document_id: int
    line_id: int
    reason: str | None = None

    @property
    def place(self) -> Place:
        return self.article, self.warehouse


class Demand(NamedTuple):
    """The goods that a line of an open order reserves."""

    place: Place
    quantity: int
    lot: str | None
    serials: list[str] | None


@dataclass
class Lot:
    quantity: int = 0
    quarantined: int = 0


@dataclass
class Serial:
    """A serial in stock."""

    place: Place
    lot: str | None
    is_quarantined: bool


@dataclass
class Shelf:
    """The stock of an article in a warehouse."""

    quantity: int = 0
    quarantined: int = 0
    lots: dict[str, Lot] = field(default_factory=dict)


class Goods(Stock):
    codes = {article: each.code for article, each in GOODS.items()}

    def __init__(self, wanted: Callable[[], Iterator[Demand]]) -> None:
        super().__init__(list)
        self.wanted = wanted
        self.moved: list[Moved] = []
        self.shelves: dict[Place, Shelf] = {}
        self.serials: dict[tuple[int, str], Serial] = {}
        """The serials in stock by article and serial, in the order of their entry."""

    def open(self, place: Place) -> Shelf:
        return self.shelves.setdefault(place, Shelf())

    def balances(self) -> dict[Place, Balance]:
        reserved: Counter[Place] = Counter()
        for each in self.wanted():
            reserved[each.place] += each.quantity
        return {
            place: Balance(shelf.quantity, reserved[place], shelf.quarantined)
            for place, shelf in self.shelves.items()
        }

    def post(self, moved: Moved) -> None:
        self.moved.append(moved)
        shelf = self.open(moved.place)
        shelf.quantity += moved.quantity
        shelf.quarantined += moved.quarantined
        if not moved.quantity:
            return
        if moved.lot is not None:
            lot = shelf.lots.setdefault(moved.lot, Lot())
            lot.quantity += moved.quantity
            lot.quarantined += moved.quarantined
        if moved.serial is not None:
            key = (moved.article, moved.serial)
            if moved.quantity > 0:
                assert key not in self.serials, "a serial is in stock at most once"
                self.serials[key] = Serial(moved.place, moved.lot, moved.quarantined > 0)
            else:
                del self.serials[key]

    def serial(self, article: int, name: str) -> Serial | None:
        return self.serials.get((article, name))

    def held_of_lots(self, place: Place) -> Counter[str]:
        """Return the reserved quantity of each lot in open orders, which name the lot or serials of the lot."""
        held: Counter[str] = Counter()
        for each in self.wanted():
            if each.place == place:
                held.update(self.named(each))
        return held

    def named(self, wanted: Demand) -> Counter[str]:
        """Return the quantities by lot that the line names, either by the lot or by its serials."""
        if wanted.serials is None:
            return Counter({wanted.lot: wanted.quantity}) if wanted.lot is not None else Counter()
        found = (self.serial(wanted.place[0], name) for name in wanted.serials)
        named: Counter[str] = Counter()
        for serial in found:
            if serial is not None and serial.lot is not None:
                named[serial.lot] += MILLION
        return named

    def free_of_lot(self, place: Place, name: str) -> int:
        lot = self.shelves[place].lots.get(name, Lot())
        return lot.quantity - lot.quarantined - self.held_of_lots(place)[name]

    def oldest(self, place: Place, quantity: int, lot: str | None) -> Iterator[Part]:
        """Yield the parts to take from the named lot. Without a lot, take the oldest lots first, then goods
        without a lot. The oldest serials come first.
        """
        held = {(each.place[0], name) for each in self.wanted() for name in each.serials or []}
        for name, free in list(self._free(place, lot)):
            taken = min(quantity, free)
            serials = [
                serial
                for (article, serial), found in self.serials.items()
                if found.place == place and found.lot == name and not found.is_quarantined
                if (article, serial) not in held
            ][: taken // MILLION]
            yield from (Part(MILLION, name, serial) for serial in serials)
            if without_serial := taken - len(serials) * MILLION:
                yield Part(without_serial, name)
            quantity -= taken
            if not quantity:
                return

    def _free(self, place: Place, lot: str | None) -> Iterator[tuple[str | None, int]]:
        shelf = self.shelves[place]
        if lot is not None:
            yield lot, self.free_of_lot(place, lot)
            return
        for name, each in shelf.lots.items():
            if each.quantity:
                yield name, self.free_of_lot(place, name)
        in_lots = sum(each.quantity - each.quarantined for each in shelf.lots.values())
        yield None, shelf.quantity - shelf.quarantined - in_lots

    def sent_out(self, order_id: int) -> list[tuple[int, Place, Part]]:
        """Return the goods that left for a sales order and are not back: line id, place and part, the earliest
        first.
        """
        sums: dict[tuple[int, Place, str | None, str | None], int] = {}
        for each in self.moved:
            if each.kind in ("loading", "unloading") and each.document_id == order_id:
                key = (each.line_id, each.place, each.lot, each.serial)
                sums[key] = sums.get(key, 0) - each.quantity
        return [
            (line_id, place, Part(quantity, lot, serial))
            for (line_id, place, lot, serial), quantity in sums.items()
            if quantity > 0
        ]

    def ever_loaded(self, order_id: int) -> list[tuple[int, Place, Part]]:
        """Return all loaded goods of the order, including goods that were unloaded again."""
        loaded = (each for each in self.moved if each.kind == "loading" and each.document_id == order_id)
        return [(each.line_id, each.place, Part(-each.quantity, each.lot, each.serial)) for each in loaded]
