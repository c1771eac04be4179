"""The undo of a company's latest import, if no later change depends on its records.

Either the whole import is undone, or nothing is.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from wmsd.base.problems import Problem
from wmsd.db.engine.staging import STAGED, Staging
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import undo_rows
from wmsd.db.sql.undo_rows import CreatedRows
from wmsd.imports import store as record
from wmsd.warehouse.articles import undo_article_import
from wmsd.warehouse.packaging import packaging_ledger
from wmsd.warehouse.stock import undo_stock_import

MOST_LISTED: Final = 10
NOUNS: Final = {
    "articles": "article",
    "clients": "client",
    "partners": "partner",
    "warehouses": "warehouse",
    "packaging_types": "packaging type",
}
"""The nouns for records, by table."""


class CannotBeUndone(Exception):
    """The error for an import that cannot be undone; nothing was changed. `sentences` are the first reasons."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.sentences = [f"{each[0].upper()}{each[1:]}." for each in sentences]
        super().__init__(" ".join(self.sentences))


class Prepared(NamedTuple):
    """The data for an undo. They are computed before the write, so that other writers wait only for a short time.
    `made` is the latest import at that time, or None if no import can be undone.
    """

    made: CreatedRows | None
    counters: undo_stock_import.Counters | None
    """The movements that reverse an import of stock, or None for an import of another kind."""


def undo_last(staging: Staging, import_id: int | None = None, used: Iterable[int] = ()) -> dict[str, Any]:
    """Undo the latest import that changed records, and return its record. Raise CannotBeUndone with the reasons if
    it cannot be undone.

    If `import_id` is given, it must be the id of the latest import. `used` are the ids of the warehouses that are
    sites of transport planners. An import that created one of these warehouses cannot be undone. The company's
    file does not contain the sites, so the caller passes them.
    """
    prepared = staging.gather(_prepare)
    return staging.write(lambda tx: _undo(tx, prepared, import_id, used))


def _prepare(tx: Transaction) -> Prepared:
    made = undo_rows.made(tx)
    if made is None or made.table != "stock_movements":
        return Prepared(made, None)
    return Prepared(made, undo_stock_import.stage(tx, STAGED, made, _reason(made)))


def _reason(made: CreatedRows) -> str:
    return f"import {made.import_id} undone"


def _undo(tx: Transaction, prepared: Prepared, import_id: int | None, used: Iterable[int]) -> dict[str, Any]:
    made = undo_rows.made(tx)
    if made is None:
        raise CannotBeUndone([_why_none(record.last_that_changed(tx))])
    if import_id not in (None, made.import_id):
        raise CannotBeUndone([f"only the last import with changes can be undone: number {made.import_id}"])
    if made != prepared.made:
        raise CannotBeUndone(
            [f"the newer import {made.import_id} ran in the meantime: to undo the newer import, try again"]
        )
    found = record.row(tx, made.import_id)
    _refuse_if(_obstacles(tx, made, found, used))
    _refuse_if(_reverse(tx, made, prepared.counters))
    record.note_undone(tx, made.import_id)
    return found


def _why_none(last: dict[str, Any] | None) -> str:
    """Return why `last`, the latest import that changed records, cannot be undone. `last` is None if there is no
    such import.
    """
    if last is None:
        return "no import has changed any records yet"
    named = f"the last import with changes, number {last['id']} ({last['kind']}),"
    if last["undone_at"] is not None:
        return f"{named} was already undone at {last['undone_at']}, and no earlier import can be undone"
    if last["kind"] not in record.KEPT_TABLES:
        return (
            f"{named} cannot be undone, because it imported documents: cancel the documents one by one, or "
            "import a file that cancels them in the column status"
        )
    most = undo_rows.MOST_BYTES // 2**20
    return f"{named} cannot be undone, because it changed more data than wmsd keeps for an undo ({most} MB)"


def _refuse_if(obstacles: Iterable[str]) -> None:
    reasons = list(islice(obstacles, MOST_LISTED + 1))
    if reasons:
        more = ["other records also prevent the undo"] if len(reasons) > MOST_LISTED else []
        raise CannotBeUndone([*reasons[:MOST_LISTED], *more])


def _obstacles(tx: Transaction, made: CreatedRows, found: dict[str, Any], used: Iterable[int]) -> Iterator[str]:
    if made.table == "stock_movements":
        yield from undo_stock_import.obstacles(tx, made, found["last_change"], MOST_LISTED + 1)
    if made.table not in NOUNS:
        return
    changed = undo_rows.changed_since(tx, made, found["last_change"], found["imported_at"], MOST_LISTED + 1)
    for code in _codes(tx, made, changed):
        yield f"{NOUNS[made.table]} {code} was changed after the import"
    for row_id, child in undo_rows.referred_to(tx, made.table, made.after, made.last, MOST_LISTED + 1):
        (code,) = _codes(tx, made, [row_id])
        yield f"{NOUNS[made.table]} {code} is already used in {child.replace('_', ' ')}"
    if made.table == "warehouses":
        for code in _codes(tx, made, [each for each in used if made.after < each <= made.last]):
            yield f"warehouse {code} is a site of a transport planner"
    if made.table == "articles":
        yield from undo_article_import.obstacles(tx, made, MOST_LISTED + 1)


def _codes(tx: Transaction, made: CreatedRows, ids: Iterable[int]) -> Iterator[str]:
    return (tx.text(f"SELECT code FROM {made.table} WHERE id = ?", (each,)) for each in ids)


def _reverse(tx: Transaction, made: CreatedRows, counters: undo_stock_import.Counters | None) -> list[str]:
    """Undo the import and return an empty list, or return the reasons why it cannot be undone."""
    if counters is not None:
        return undo_stock_import.undo(tx, counters)
    if made.table == "packaging_movements":
        try:
            packaging_ledger.reverse_import(tx, made, _reason(made))
        except Problem as problem:
            return [sentence for sentences in problem.errors.values() for sentence in sentences]
    elif made.table == "articles":
        undo_article_import.undo(tx, made)
    else:
        undo_rows.delete_made(tx, made)
        undo_rows.restore(tx, made)
    return []
