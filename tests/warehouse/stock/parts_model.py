"""The expected behaviour of lots and serials, in plain Python that uses no code of wmsd. Quantities are in units.

A change is refused if a check of the whole state finds an error; the model does not produce error messages.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

TRACKS_SERIALS = 3
"""The article that is tracked by serials."""
Place = tuple[int, int]
Key = tuple[str | None, str | None]


class Row(NamedTuple):
    """A row of a count."""

    warehouse: int
    lot: str | None
    serial: str | None
    quantity: float
    quarantined: float | None


@dataclass
class Record:
    parts: dict[Key, tuple[float, float]] = field(default_factory=dict)
    reserved: float = 0
    lots_reserved: dict[str, float] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)

    def sum(self, lot: str | None = None) -> tuple[float, float]:
        chosen = [part for (of_lot, _), part in self.parts.items() if lot in (None, of_lot)]
        return sum(part[0] for part in chosen), sum(part[1] for part in chosen)

    def add(self, key: Key, quantity: float, quarantined: float = 0) -> None:
        before = self.parts.pop(key, (0, 0))
        after = (before[0] + quantity, before[1] + quarantined)
        if after != (0, 0):
            self.parts[key] = after

    def key_of(self, serial: str) -> Key | None:
        return next((key for key in self.parts if key[1] == serial), None)


class Refused(Exception):
    pass


class Model:
    def __init__(self) -> None:
        self.records: dict[Place, Record] = {}

    def at(self, place: Place) -> Record:
        return self.records.setdefault(place, Record())

    def change(self, place: Place) -> "Change":
        return Change(self, place)

    def adjust_by(self, place: Place, lot: str | None, by: float) -> None:
        with self.change(place) as record:
            record.add((lot, None), by)

    def adjust_to(self, place: Place, lot: str | None, to: float) -> None:
        with self.change(place) as record:
            record.add((lot, None), to - record.sum(lot)[0])

    def add_serials(self, place: Place, lot: str | None, serials: list[str]) -> None:
        with self.change(place) as record:
            for serial in serials:
                record.add((lot, serial), 1)

    def remove_serials(self, place: Place, lot: str | None, serials: list[str]) -> None:
        with self.change(place) as record:
            for key in self._keys(record, lot, serials):
                del record.parts[key]

    def quarantine(self, place: Place, lot: str | None, quantity: float) -> None:
        """Quarantine the quantity; a quantity below 0 is released."""
        with self.change(place) as record:
            record.add((lot, None), 0, quantity)

    def quarantine_serials(self, place: Place, lot: str | None, serials: list[str], enters: bool) -> None:
        with self.change(place) as record:
            for key in self._keys(record, lot, serials):
                record.add(key, 0, 1 if enters else -1)

    def quarantine_all(self, place: Place, lot: str | None, enters: bool) -> None:
        with self.change(place) as record:
            chosen = [key for key in record.parts if lot in (None, key[0])]
            if not chosen:
                raise Refused
            for key in chosen:
                quantity = record.parts[key][0]
                record.parts[key] = (quantity, quantity if enters else 0)

    def count(self, article: int, rows: list[Row]) -> None:
        before = deepcopy(self.records)
        try:
            for warehouse in {row.warehouse for row in rows}:
                record = self.at((article, warehouse))
                self._count(record, [row for row in rows if row.warehouse == warehouse])
            for warehouse in {row.warehouse for row in rows}:
                self.check((article, warehouse), before.get((article, warehouse), Record()))
        except Refused:
            self.records = before
            raise

    def _count(self, record: Record, rows: list[Row]) -> None:
        if [row[1:3] for row in rows] == [(None, None)]:
            quantity, quarantined = record.sum()
            given = rows[0].quarantined
            record.add((None, None), rows[0].quantity - quantity, 0 if given is None else given - quarantined)
            return
        before, record.parts = record.parts, {}
        for _, lot, serial, quantity, given in rows:
            kept = before.get((lot, serial), (0, 0))[1] if given is None else given
            if quantity:
                record.parts[lot, serial] = (quantity, kept)

    def _keys(self, record: Record, lot: str | None, serials: list[str]) -> list[Key]:
        keys = [record.key_of(serial) for serial in serials]
        if None in keys or any(key and lot not in (None, key[0]) for key in keys):
            raise Refused
        return [key for key in keys if key]

    def check(self, place: Place, before: Record) -> None:
        record = self.records[place]
        for (lot, serial), (quantity, quarantined) in record.parts.items():
            if not 0 <= quarantined <= quantity or (serial and (quantity, quarantined) not in ((1, 0), (1, 1))):
                raise Refused
            if serial and place[0] != TRACKS_SERIALS:
                raise Refused
            is_changed = before.parts.get((lot, serial)) != (quantity, quarantined)
            if is_changed and place[0] == TRACKS_SERIALS and (quantity % 1 or quarantined % 1):
                raise Refused
            others = [other for at, other in self.records.items() if at[0] == place[0]]
            if serial and sum(key[1] == serial for other in others for key in other.parts) > 1:
                raise Refused
        quantity, quarantined = record.sum()
        if quantity - quarantined < record.reserved:
            raise Refused
        for lot, reserved in record.lots_reserved.items():
            quantity, quarantined = record.sum(lot)
            if quantity - quarantined < reserved:
                raise Refused
        for serial in record.held:
            key = before.key_of(serial)
            if key is None or record.parts.get(key) != (1, 0):
                raise Refused


class Change:
    """A context manager that undoes the changes to a stock record if the result is not allowed."""

    def __init__(self, model: Model, place: Place) -> None:
        self.model, self.place = model, place
        self.before = deepcopy(model.at(place))

    def __enter__(self) -> Record:
        return self.model.at(self.place)

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.model.check(self.place, self.before)
        except Refused:
            self.model.records[self.place] = self.before
            raise
        if kind is not None:
            self.model.records[self.place] = self.before
