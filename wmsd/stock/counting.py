"""Stock counts of many articles at once: computes and checks the changes, and posts all of them or none."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.articles.store import Reference
from wmsd.base.dataclass import dataclass
from wmsd.base.importing import CellError, Outcome, chunks
from wmsd.base.quantity import to_text
from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction
from wmsd.stock import lots, staging, store
from wmsd.stock.contents import NOTHING, Contents, PartKey, contents_of
from wmsd.stock.rules import Change, Counted, Fault, changes, count_parts, faults_of
from wmsd.stock.staging import Movement, Record
from wmsd.stock.store import Place

KIND: Final = "count"


@dataclass(slots=True)
class Counting:
    """The counts of an article in a warehouse. Row and reason of each count are kept by its part."""

    article: Reference
    warehouse_code: str
    counts: list[Counted] = field(default_factory=list)
    lines: dict[PartKey, int] = field(default_factory=dict)
    reasons: dict[PartKey, str] = field(default_factory=dict)
    is_faulty: bool = False
    """One of its rows was refused, so the changes of the others are not computed."""

    def reason(self, change: Change, otherwise: str) -> str:
        """The reason of the change's row; without such a row, the reason of the first row that has one."""
        return self.reasons.get(change.goods) or next(iter(self.reasons.values()), otherwise)

    def line_of(self, goods: PartKey | None) -> int:
        """The row that names the goods; otherwise the first row of their lot; otherwise the first row."""
        lot_number = None if goods is None else goods.lot_number
        of_lot = (line for named, line in self.lines.items() if lot_number is not None and named[0] == lot_number)
        return self.lines.get(goods or PartKey()) or next(of_lot, None) or next(iter(self.lines.values()))


class Changed(NamedTuple):
    """A change, with the codes of its article and warehouse."""

    article_code: str
    warehouse_code: str
    change: Change


@dataclass(slots=True)
class CountOutcome(Outcome):
    """`updated` is the number of changes; `unchanged` is the number of counts that match the records."""

    changed: list[Changed] = field(default_factory=list)


@dataclass(slots=True)
class Count:
    """Counts of many places. The changes are planned on one state of the data, and again on a later one."""

    places: dict[Place, Counting]
    _planned: dict[Place, list[Change]] = field(default_factory=dict)
    _last_change: int | None = None

    def plan(self, tx: Transaction, outcome: Outcome, reason: str) -> None:
        """Computes the changes and what forbids them, and stages the changes (`staging.py`). A place that has not
        changed since the last time keeps its plan. `reason` is used where a count has none of its own.
        """
        again = self._to_plan(tx)
        self._last_change = tx.last_change()
        if not again:
            return
        numbers = {place: number for number, place in enumerate(self.places, 1)}
        for chunk in chunks(again):
            stock_ids = {place: stock_id for place, (stock_id, _) in store.available_at(tx, chunk).items()}
            counted = {place: self.places[place] for place in chunk}
            staging.note_serials(tx, _with_serials(counted))
            self._planned.update(_planned(tx, counted, stock_ids, outcome))
            if not outcome.errors:
                self._stage(tx, {place: numbers[place] for place in chunk}, stock_ids, reason)
        _check_serials(tx, self.places, self._planned, outcome)
        if not outcome.errors:
            staging.complete(tx)
            self._tell(outcome)

    def _to_plan(self, tx: Transaction) -> list[Place]:
        """All places at first; then those whose stock has changed. A document can hold or free serials without a
        change of the stock record.
        """
        if self._last_change is None:
            staging.empty(tx)
            return list(self.places)
        changed = store.places_changed_since(tx, self._last_change)
        with_serials = _with_serials(self.places)
        of_serials = staging.articles_of_changed_serials(tx, with_serials) if with_serials else set[int]()
        return [
            place
            for place in self.places
            if place in changed or place not in self._planned or place.article_id in of_serials
        ]

    def _stage(
        self, tx: Transaction, numbers: Mapping[Place, int], stock_ids: Mapping[Place, int], reason: str
    ) -> None:
        records: list[Record] = []
        movements: list[Movement] = []
        for place, number in numbers.items():
            moved = [
                Movement(
                    number, part, *change.difference, *change.goods, self.places[place].reason(change, reason)
                )
                for part, change in enumerate(self._planned[place])
            ]
            quantity, quarantined = sum(each.quantity for each in moved), sum(each.quarantined for each in moved)
            records.append(Record(number, *place, stock_ids.get(place), quantity, quarantined, bool(moved)))
            movements += moved
        staging.put(tx, records, movements)

    def _tell(self, outcome: Outcome) -> None:
        places, differing = self.places, list(self._differing())
        if isinstance(outcome, CountOutcome):
            outcome.changed = [
                Changed(places[place].article.code, places[place].warehouse_code, change)
                for place, change in differing
            ]
        found = {(place, change.goods) for place, change in differing}
        outcome.updated = len(differing)
        outcome.unchanged = sum(
            (place, goods) not in found for place, counting in places.items() for goods in counting.lines
        )

    def _differing(self) -> Iterator[tuple[Place, Change]]:
        return ((place, change) for place, made in self._planned.items() for change in made)


def _with_serials(places: Mapping[Place, Counting]) -> set[int]:
    """The articles that are tracked by serials."""
    return {place.article_id for place, counting in places.items() if counting.article.tracks_serials}


def _planned(
    tx: Transaction,
    places: Mapping[Place, Counting],
    stock_ids: Mapping[Place, int],
    outcome: Outcome,
) -> Iterator[tuple[Place, list[Change]]]:
    contents = contents_of(tx, stock_ids.values())
    for place, counting in places.items():
        if counting.is_faulty:
            continue
        before, faults = contents[stock_ids[place]] if place in stock_ids else Contents(), list[Fault]()
        after = count_parts(before, _with_quarantine(tx, before, counting), faults)
        if after != before.parts or faults:  # most counts match the records
            faults = faults or [*faults_of(before, after, counting.article.tracks_serials)]
            _refuse(counting, before, faults, outcome)
        yield place, changes(before.parts, after)


def _with_quarantine(tx: Transaction, before: Contents, counting: Counting) -> list[Counted]:
    """The counts. A serial that was in quarantine stays in it when it is found in another lot or warehouse."""
    arrived = {
        each.goods.serial
        for each in counting.counts
        if each.goods.serial is not None and each.quarantined is None and each.goods not in before.parts
    }
    known = lots.serials(tx, counting.article.id, sorted(arrived)) if arrived else {}
    quarantined = {serial.serial for serial in known.values() if serial.quarantined}
    return [
        each._replace(quarantined=each.quantity)
        if each.quarantined is None and each.goods.serial in quarantined
        else each
        for each in counting.counts
    ]


def _refuse(counting: Counting, before: Contents, faults: list[Fault], outcome: Outcome) -> None:
    if faults and not counting.counts:  # goods that were not found have no row
        name = f"{counting.article.code} in {counting.warehouse_code}"
        sentence = f"is not in the file, but orders hold {to_text(before.reserved)} of it"
        outcome.errors.add(CellError(0, name, sentence))
        return
    for fault in faults:
        outcome.refuse(counting.line_of(fault.goods), {fault.column: [fault.sentence]})


def _check_serials(
    tx: Transaction, places: Mapping[Place, Counting], planned: Mapping[Place, list[Change]], outcome: Outcome
) -> None:
    """Refuses a serial that is in stock elsewhere, unless this count finds it missing there."""
    arriving: dict[tuple[int, str], tuple[Place, PartKey]] = {}
    leaving: set[tuple[int, str]] = set()
    for place, made in planned.items():
        for goods, before, after in made if places[place].article.tracks_serials else ():
            if goods.serial is not None and before == NOTHING:
                arriving[place.article_id, goods.serial] = place, goods
            elif goods.serial is not None and after == NOTHING:
                leaving.add((place.article_id, goods.serial))
    for chunk in chunks(arriving.keys() - leaving):
        for serial, warehouse_code in lots.warehouses_of(tx, chunk).items():
            sentence = f"{serial[1]} is in stock in {warehouse_code} already"
            place, goods = arriving[serial]
            outcome.refuse(places[place].line_of(goods), {"serial": [sentence]})


MISSING: Final = """
    SELECT stock.article_id, stock.warehouse_id, articles.code, articles.active, articles.track_serial
    FROM stock CROSS JOIN articles ON articles.id = stock.article_id
    WHERE stock.warehouse_id IN (SELECT value FROM json_each(?)) AND stock.quantity > 0 ORDER BY stock.id
"""


def add_missing(tx: Transaction, places: dict[Place, Counting]) -> None:
    """Adds a count of nothing for each article that has stock in one of the counted warehouses and is not among
    the places.
    """
    warehouses = {place.warehouse_id: counting.warehouse_code for place, counting in places.items()}
    for article_id, warehouse_id, *article in tx.rows(MISSING, (dumps(list(warehouses)),)):
        place, reference = Place(article_id, warehouse_id), Reference(article_id, *article)
        places.setdefault(place, Counting(reference, warehouses[warehouse_id]))
