"""Stock counts of many articles in one step. First all changes are computed and checked. Then either all changes
are posted, or none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import to_text
from wmsd.contract.bulk_imports import CellError, Outcome
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import count_staging, lots, stock_staging, store
from wmsd.warehouse.stock.count_staging import StagedCount, StagedPlace
from wmsd.warehouse.stock.parts import Amounts, Contents, PartKey, contents_of
from wmsd.warehouse.stock.rules import Change, Counted, Fault, count_parts, faults_of, part_changes
from wmsd.warehouse.stock.stock_staging import Movement, Record
from wmsd.warehouse.stock.store import Place

KIND: Final = "count"


@dataclass(slots=True)
class Counting:
    """The counts of an article in a warehouse. `lines` has the row of each count, by lot and serial. `reasons` has
    the reason of each count that gives one.
    """

    place: StagedPlace
    counts: list[Counted] = field(default_factory=list)
    lines: dict[PartKey, int] = field(default_factory=dict)
    reasons: dict[PartKey, str] = field(default_factory=dict)

    @classmethod
    def of(cls, place: StagedPlace, counts: Sequence[StagedCount]) -> "Counting":
        return cls(
            place,
            [each.counted for each in counts],
            {each.counted.goods: each.line for each in counts},
            {each.counted.goods: each.reason for each in counts if each.reason is not None},
        )

    def reason(self, change: Change, otherwise: str) -> str:
        """Return the reason of the row that has counted the changed part.

        If this row is missing or has no reason, return the first reason in the article's rows. If these rows have
        no reason, return `otherwise`.
        """
        return self.reasons.get(change.goods) or next(iter(self.reasons.values()), otherwise)

    def line_of(self, goods: PartKey | None) -> int:
        """Return the number of the row that names `goods`. If there is none, return the first row of the same lot,
        or else the first row of the article.
        """
        lot_number = None if goods is None else goods.lot_number
        of_lot = (line for named, line in self.lines.items() if lot_number is not None and named[0] == lot_number)
        return self.lines.get(goods or PartKey()) or next(of_lot, None) or next(iter(self.lines.values()))


class Changed(NamedTuple):
    """A changed part of a stock record, with the codes of its article and warehouse."""

    article_code: str
    warehouse_code: str
    change: Change


@dataclass(slots=True)
class CountOutcome(Outcome):
    """The outcome of a count. `changed` has the changes. `updated` is the number of changes. `unchanged` is the
    number of counted parts whose stock was correct.
    """

    changed: list[Changed] = field(default_factory=list)


class Count:
    """A stock count of many articles and warehouses. The counts are in temporary tables (`count_staging.py`).

    Call `plan` twice: once while other writers can still write, and once directly before the changes are written.
    """

    def __init__(self) -> None:
        self._last_change: int | None = None

    def plan(self, tx: Transaction, outcome: Outcome, reason: str) -> None:
        """Compute the changes, and store them in temporary tables (`stock_staging.py`). If errors forbid the
        changes, add the errors to `outcome`.

        The second call computes a change again only if its stock has changed since the first call. `reason` is the
        reason for counts that give no reason.
        """
        self._forget_changed(tx)
        self._last_change = tx.last_change()
        is_as_before = True
        for places, counts in count_staging.to_plan(tx):
            is_as_before = False
            some = {Place(each.article_id, each.warehouse_id): each for each in places}
            stock_ids = {place: stock_id for place, (stock_id, _) in store.available_at(tx, some).items()}
            counted = {place: Counting.of(each, counts[each.number]) for place, each in some.items()}
            stock_staging.note_serials(tx, {each.article_id for each in places if each.tracks_serials})
            planned = dict(_planned(tx, counted, stock_ids, outcome))
            _stage(tx, counted, planned, stock_ids, reason, bool(outcome.errors))
        if is_as_before:
            return
        for line, serial, warehouse_code in stock_staging.serials_elsewhere(tx):
            outcome.refuse(line, {"serial": [f"{serial} is in stock in {warehouse_code} already"]})
        if not outcome.errors:
            stock_staging.complete(tx)
            _tell(tx, outcome)

    def _forget_changed(self, tx: Transaction) -> None:
        """Discard the planned changes of stock that has changed since the previous call. In the first call,
        discard all planned changes.

        A document can reserve or release serials without changing the stock record. Therefore this method compares
        serials separately.
        """
        if self._last_change is None:
            stock_staging.empty(tx)
            return
        count_staging.forget_plans_of_changed(tx, self._last_change)
        with_serials = count_staging.articles_with_serials(tx)
        if with_serials:
            count_staging.forget_plans_of(tx, stock_staging.articles_of_changed_serials(tx, with_serials))


def _stage(
    tx: Transaction,
    counted: Mapping[Place, Counting],
    planned: Mapping[Place, list[Change]],
    stock_ids: Mapping[Place, int],
    reason: str,
    is_refused: bool,
) -> None:
    """Store the planned changes of the counted articles in temporary tables.

    If the file has errors (`is_refused`), nothing will be written to stock. In this case only changes of serials
    are stored, to check that no serial is in two warehouses. All other changes are left out, because their
    quantities might be larger than SQLite can store.
    """
    records: list[Record] = []
    movements: list[Movement] = []
    for place, counting in counted.items():
        made = [each for each in planned.get(place, ()) if not is_refused or each.goods.serial is not None]
        moved = [
            Movement(
                counting.place.number,
                part,
                place.article_id,
                *change.difference,
                *change.goods,
                counting.reason(change, reason),
                counting.lines.get(change.goods),
                *change.before,
            )
            for part, change in enumerate(made)
        ]
        records.append(Record.of(counting.place.number, *place, stock_ids.get(place), moved))
        movements += moved
    stock_staging.put(tx, records, movements)


def _tell(tx: Transaction, outcome: Outcome) -> None:
    outcome.updated, of_rows = stock_staging.count_movements(tx)
    outcome.unchanged = count_staging.count(tx) - of_rows
    if isinstance(outcome, CountOutcome):
        outcome.changed = [_changed(*row) for row in stock_staging.movements_of_count(tx)]


def _changed(
    article_code: str,
    warehouse_code: str,
    lot_number: str | None,
    serial: str | None,
    before: Amounts,
    difference: Amounts,
) -> Changed:
    after = Amounts(before.quantity + difference.quantity, before.quarantined + difference.quarantined)
    return Changed(article_code, warehouse_code, Change(PartKey(lot_number, serial), before, after))


def _planned(
    tx: Transaction,
    places: Mapping[Place, Counting],
    stock_ids: Mapping[Place, int],
    outcome: Outcome,
) -> Iterator[tuple[Place, list[Change]]]:
    contents = contents_of(tx, stock_ids.values())
    for place, counting in places.items():
        if counting.place.is_faulty:  # without the refused row, the changes for this place would be wrong
            continue
        before, faults = contents[stock_ids[place]] if place in stock_ids else Contents(), list[Fault]()
        after = count_parts(before, _with_quarantine(tx, before, counting), faults)
        if after != before.parts or faults:  # saves time, because most counts match the records
            faults = faults or [*faults_of(before, after, counting.place.tracks_serials)]
            _refuse(counting, before, faults, outcome)
        yield place, part_changes(before.parts, after)


def _with_quarantine(tx: Transaction, before: Contents, counting: Counting) -> list[Counted]:
    """Return the counts of `counting`. Keep the quarantine of serials that have moved.

    A serial that is in quarantine may be found in another lot or warehouse. Its count gets a quarantined quantity,
    so that the serial stays in quarantine.
    """
    arrived = {
        each.goods.serial
        for each in counting.counts
        if each.goods.serial is not None and each.quarantined is None and each.goods not in before.parts
    }
    known = lots.serials(tx, counting.place.article_id, sorted(arrived)) if arrived else {}
    quarantined = {serial.serial for serial in known.values() if serial.quarantined}
    return [
        each._replace(quarantined=each.quantity)
        if each.quarantined is None and each.goods.serial in quarantined
        else each
        for each in counting.counts
    ]


def _refuse(counting: Counting, before: Contents, faults: list[Fault], outcome: Outcome) -> None:
    if faults and not counting.counts:  # goods that were not found have no row
        name = f"{counting.place.article_code} in {counting.place.warehouse_code}"
        sentence = (
            "has no row in the file, so its stock would become 0, but orders have reserved "
            f"{to_text(before.reserved)}: add a row for this article"
        )
        outcome.errors.add(CellError(0, name, sentence))
        return
    for fault in faults:
        outcome.refuse(counting.line_of(fault.goods), {fault.column: [fault.sentence]})
