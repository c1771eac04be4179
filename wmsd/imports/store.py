"""SQL for the records of imports in a company's file, and for the data that undoes the latest import."""

from collections.abc import Callable
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.contract.bulk_imports import Outcome
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import undo_rows
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.db.sql.undo_rows import Keeping
from wmsd.imports.schema import ImportCursorQuery, ImportFilters, ImportQuery, ImportShown

MOST_KEPT: Final = 500
"""The most imports whose records are kept. The records of older imports are deleted, except the one that can still
be undone.
"""
LONGEST_NAME: Final = 200
CAN_BE_UNDONE: Final = "EXISTS (SELECT 1 FROM import_rows WHERE import_id = imports.id)"
SHOWN: Final = record_sql(ImportShown, {"can_be_undone": CAN_BE_UNDONE})
LISTING: Final = Listing("imports", "id", conditions(ImportFilters), "imports")

KEPT_TABLES: Final = {
    "articles": "articles",
    "clients": "clients",
    "partners": "partners",
    "warehouses": "warehouses",
    "stock": "stock_movements",
    "stock-count": "stock_movements",
    "packaging-types": "packaging_types",
    "packaging-movements": "packaging_movements",
}
"""The table whose rows are stored for undoing an import, by the kind of the import.

For stock, the movements are enough, because balances are their sums. Imports of documents are not in this table,
because they cannot be undone: users cancel the documents one by one.
"""


def page(tx: Transaction, query: ImportQuery) -> Page:
    return LISTING.page(tx, SHOWN, query, query.filters())


def after(tx: Transaction, query: ImportCursorQuery, position: int) -> CursorPage:
    return LISTING.after(tx, SHOWN, query, position, query.filters())


ONE: Final = f"SELECT {SHOWN} FROM imports WHERE id = ?"


def one(tx: Transaction, import_id: int) -> Record:
    """Return the record of an import. Raise Problem (404) if there is no such import."""
    return Record(import_id, or_not_found(tx.value(ONE, (import_id,)), "import"))


ROW: Final = """
    SELECT id, kind, file_name, created, updated, last_change, imported_at FROM imports WHERE id = ?
"""


def row(tx: Transaction, import_id: int) -> dict[str, Any]:
    found = tx.record(ROW, (import_id,))
    assert found is not None, import_id
    return found


LAST_THAT_CHANGED: Final = """
    SELECT id, kind, undone_at FROM imports WHERE created + updated > 0 ORDER BY id DESC LIMIT 1
"""


def last_that_changed(tx: Transaction) -> dict[str, Any] | None:
    return tx.record(LAST_THAT_CHANGED)


def last_to_undo(tx: Transaction) -> dict[str, Any] | None:
    """Return the row (see `row`) of the import that `wmsd import undo` undoes next, or None if there is none."""
    made = undo_rows.made(tx)
    return None if made is None else row(tx, made.import_id)


def of_upload(tx: Transaction, upload: str) -> Record | None:
    """Return the import that imported this upload, or None."""
    import_id = tx.value("SELECT id FROM imports WHERE upload = ?", (upload,))
    return None if import_id is None else one(tx, import_id)


class AlreadyImported(Exception):
    """The error for an upload that is already imported."""


INSERT: Final = "INSERT INTO imports (kind, file_name, upload, actor, imported_at) VALUES (?, ?, ?, ?, ?)"
COUNT: Final = "UPDATE imports SET created = ?, updated = ?, unchanged = ?, last_change = ? WHERE id = ?"
FORGET_OLD: Final = """
    DELETE FROM imports WHERE id <= (SELECT max(id) FROM imports) - ?
        AND id NOT IN (SELECT import_id FROM import_rows)
"""


@dataclass(frozen=True, slots=True)
class Recording:
    """The details of an import. `begin` stores them, and the data for an undo, in the transaction of the import.

    `upload` is the id of the upload, or None for an import on the command line.
    """

    kind: str
    file_name: str
    upload: str | None = None

    def begin(self, tx: Transaction) -> Callable[[Outcome], None]:
        """Start recording. Call this before the rows are written. After the rows are written, call the returned
        function with the outcome of the import.

        Raise AlreadyImported if the upload is already imported.
        """
        if self.upload is not None and of_upload(tx, self.upload) is not None:
            raise AlreadyImported
        names = (self.kind, self.file_name[:LONGEST_NAME], self.upload, tx.actor.name, tx.timestamp)
        import_id = tx.insert(INSERT, names)
        table = KEPT_TABLES.get(self.kind)
        keeping = None if table is None else Keeping(tx, import_id, table)

        def end(outcome: Outcome) -> None:
            counts = (outcome.created, outcome.updated, outcome.unchanged)
            tx.execute(COUNT, (*counts, tx.last_change(), import_id))
            has_changed_something = bool(outcome.created or outcome.updated)
            if keeping is not None:
                keeping.end(has_changed_something)
            elif has_changed_something:  # an earlier import can no longer be undone, because it is not the latest
                undo_rows.forget(tx)
            tx.execute(FORGET_OLD, (MOST_KEPT,))

        return end


NOTE_UNDONE: Final = "UPDATE imports SET undone_at = ?, undone_by = ? WHERE id = ?"


def note_undone(tx: Transaction, import_id: int) -> None:
    tx.execute(NOTE_UNDONE, (tx.timestamp, tx.actor.name, import_id))
    undo_rows.forget(tx)
