"""Books the differences of a finished count: either all of them, or none."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.counts import store
from wmsd.warehouse.counts.rules import (
    FINAL,
    TRANSITIONS,
    Row,
    counted_parts,
    line_difference,
    part_of,
    to_book,
    two_lots_of_a_serial,
)
from wmsd.warehouse.counts.store import COUNT_LINES, COUNTS
from wmsd.warehouse.documents.document_events import emit_updated
from wmsd.warehouse.stock import lots
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.counts import KIND
from wmsd.warehouse.stock.parts import Contents, Parts, contents_of
from wmsd.warehouse.stock.rules import Change, Fault, faults_of, part_changes
from wmsd.warehouse.stock.stock_ledger import Movement, post_all

COLUMNS: Final = {"quantity": "counted_quantity", "quarantined": "counted_quantity", "serial": "serial"}
"""The field of the count line at which an error is reported, by the `column` of the fault."""


def book(tx: Transaction, count_id: int, reason: str | None = None) -> None:
    """Book the counted lines of a count, except those that must be counted again.

    Other counts may have counted the same goods before this booking corrected them. The lines of these counts are
    marked: they must be counted again. Raise Problem: 409 if there is nothing to book, 422 with an error at each
    faulty line.
    """
    count, rows = COUNTS.columns(tx, count_id), COUNT_LINES.of(tx, count_id)
    stock_ids = stock.ids_in(tx, count["warehouse_id"], (row["article_id"] for row in to_book(rows)))
    _note_corrected(tx, rows, stock_ids)
    lines = to_book(rows)
    if not lines:
        raise TRANSITIONS.forbidden(_nothing_to_book(rows), count["status"], FINAL)
    changes = _changes(tx, rows, lines, stock_ids)
    line_of = {(row["article_id"], part_of(row)): row["id"] for row in lines}
    movements = [
        (stock_ids[article_id], _movement(change, count_id, line_of[article_id, change.goods], reason))
        for article_id, change in changes
    ]
    post_all(tx, movements)
    store.note_booked(tx, {row["id"]: line_difference(row) for row in lines})
    corrected = [(article_id, change.goods) for article_id, change in changes]
    _mark_others(tx, store.counted_elsewhere(tx, count_id, count["warehouse_id"], corrected))


def _note_corrected(tx: Transaction, rows: Sequence[Row], stock_ids: Mapping[int, int]) -> None:
    """Find the lines of this count whose goods were counted here and later corrected by another count. Mark them
    in the database and in `rows`: they must be counted again.

    Otherwise both counts would book the same difference.
    """
    counted = to_book(rows)
    seen = [store.Seen(stock_ids[row["article_id"]], *part_of(row), row["last_movement"]) for row in counted]
    corrected = [counted[place] for place in store.moved_since(tx, seen, KIND)]
    store.note_count_again(tx, [row["id"] for row in corrected])
    for row in corrected:
        row["count_again"] = 1


def _nothing_to_book(rows: Sequence[Row]) -> str:
    missing = sum(row["counted_quantity"] is None for row in rows)
    return (
        f"This count has no lines to book. Lines without a quantity: {missing}; lines to count again because "
        f"their goods moved: {len(rows) - missing}."
    )


def _changes(
    tx: Transaction, rows: Sequence[Row], lines: Sequence[Row], stock_ids: Mapping[int, int]
) -> list[tuple[int, Change]]:
    """Compute the stock changes for the lines `lines`. Return each change with the id of its article.

    `rows` are all lines of the count. Raise Problem (422) if lines have errors. The path of an error contains the
    position of its line in `rows`.
    """
    contents = contents_of(tx, stock_ids.values())
    with_serials = {each.id for each in articles.references(tx, stock_ids, ()) if each.tracks_serials}
    paths = {row["id"]: f"lines.{number}" for number, row in enumerate(rows)}
    errors: list[FieldError] = []
    changes: list[tuple[int, Change]] = []
    for article_id, some in groupby(sorted(lines, key=itemgetter("article_id")), itemgetter("article_id")):
        of_article = list(some)
        before = contents[stock_ids[article_id]]
        after, faults = counted_parts(before, of_article)
        if after != before.parts and not faults:
            faults = [
                *faults_of(before, after, article_id in with_serials),
                *two_lots_of_a_serial(after),
                *_elsewhere(tx, article_id, stock_ids[article_id], before, after),
            ]
        errors += [error for fault in faults for error in _errors(fault, of_article, paths)]
        changes += [(article_id, change) for change in part_changes(before.parts, after)]
    refuse_field_errors(errors)
    return changes


def _elsewhere(tx: Transaction, article_id: int, stock_id: int, before: Contents, after: Parts) -> Iterator[Fault]:
    """Yield a fault for each serial that was counted here but is still in stock in another warehouse."""
    found = {goods.serial: goods for goods in after if goods.serial is not None and goods not in before.parts}
    known = lots.serials(tx, article_id, list(found))
    away = [name for name, serial in known.items() if serial.stock_id != stock_id]
    for (_, name), warehouse in lots.warehouses_of(tx, [(article_id, name) for name in away]).items():
        yield Fault(
            found[name],
            "serial",
            f"{name} is still in stock in {warehouse}: first create a count there with the quantity 0, "
            "and book it",
        )


def _errors(fault: Fault, rows: Sequence[Row], paths: Mapping[int, str]) -> Iterator[FieldError]:
    """Convert a fault to errors at the lines that caused it. `rows` are the booked lines of the article.

    The errors are at the first of these groups that contains any lines:
    - the lines that name the goods of the fault,
    - the lines of the same lot that reduce stock,
    - all lines that reduce stock,
    - all lines.
    """
    named = [row for row in rows if fault.goods is not None and part_of(row) == fault.goods]
    taking = [row for row in rows if line_difference(row) < 0]
    of_lot = [row for row in taking if fault.goods is not None and row["lot_number"] == fault.goods.lot_number]
    for row in named or of_lot or taking or rows:
        yield invalid_field(f"{paths[row['id']]}.{COLUMNS[fault.column]}", fault.sentence)


def _movement(change: Change, count_id: int, line_id: int, reason: str | None) -> Movement:
    return Movement(
        change.difference.quantity,
        kind=KIND,
        quarantined=change.difference.quarantined,
        lot_number=change.goods.lot_number,
        serial=change.goods.serial,
        document_id=count_id,
        document_line_id=line_id,
        reason=reason,
    )


def _mark_others(tx: Transaction, lines_of: Mapping[int, Sequence[int]]) -> None:
    """Mark lines of other counts: they must be counted again, because this booking has corrected their goods after
    they were counted.

    `lines_of` has the ids of these lines, by the id of the count.
    """
    for other, line_ids in lines_of.items():
        before = COUNTS.one(tx, other)
        store.note_count_again(tx, line_ids)
        COUNTS.touch(tx, other)
        emit_updated(tx, COUNTS, before)
