"""The history of a document: who created it, who changed its fields, and who changed its status. Each entry is
written in the transaction of the change.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.documents.schema import DocumentChange
from wmsd.warehouse.documents.table import DocumentTable

MOST_KEPT: Final = 200
"""The maximum number of changes that are stored per document, in addition to its creation. Only the latest changes
are stored. Without a limit, a program that changes a document all day would fill the disk.
"""
LONGEST_VALUE: Final = 500
"""How many characters of a field's value are stored, at most. The history need not contain whole documents."""
MOST_PARTS: Final = 5
"""How many items of a list are stored, at most, because a list may have ten thousand serials."""
LONGEST_LINES: Final = 1000
"""How many characters of the changed lines are stored, at most: about fifteen lines. The limit applies to the
lines before the change, and also to the lines after it.
"""
LONGEST_ANSWER: Final = 40_000
"""The maximum number of characters of all changes in one answer, so that the document's page stays small."""
MORE: Final = "…"
"""The sign that replaces omitted text."""
NOTE: Final = """
    INSERT INTO document_changes (kind, document_id, at, actor, what, status, changes) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
FORGET_OLD: Final = f"""
    DELETE FROM document_changes WHERE kind = :kind AND document_id = :id AND what <> 'created' AND id <= (
        SELECT id FROM document_changes WHERE kind = :kind AND document_id = :id
        ORDER BY id DESC LIMIT 1 OFFSET {MOST_KEPT}
    )
"""
OF_DOCUMENT: Final = f"""
    SELECT {record_sql(DocumentChange)} FROM document_changes WHERE kind = ? AND document_id = ?
    ORDER BY id DESC LIMIT {MOST_KEPT + 1}
"""


def note_created(tx: Transaction, table: DocumentTable, ids: Iterable[int]) -> None:
    _note(tx, table, ids, "created", table.initial)


def note_moved(tx: Transaction, table: DocumentTable, ids: Iterable[int], status: str) -> None:
    _note(tx, table, ids, "moved", status)


def note_changed(tx: Transaction, table: DocumentTable, before: Record, after: Record) -> None:
    changes = differences(table, json.loads(before.json), json.loads(after.json))
    _note(tx, table, [after.id], "changed", None, dumps(changes))


def _note(
    tx: Transaction,
    table: DocumentTable,
    ids: Iterable[int],
    what: str,
    status: str | None,
    changes: str | None = None,
) -> None:
    at, actor = tx.timestamp, tx.actor.name
    ids = tuple(ids)
    tx.executemany(NOTE, [(table.entity, each, at, actor, what, status, changes) for each in ids])
    if what != "created":
        tx.executemany(FORGET_OLD, [{"kind": table.entity, "id": each} for each in ids])


def of_document(tx: Transaction, table: DocumentTable, document_id: int) -> dict[str, Any]:
    """Return the changes of a document in the form of `DocumentChanges`, the newest first.

    Raise Problem (404) if there is no such document.
    """
    table.columns(tx, document_id)
    texts = [text for (text,) in tx.rows(OF_DOCUMENT, (table.entity, document_id))]
    lengths = accumulate(map(len, texts))
    shown = [json.loads(text) for text, length in zip(texts, lengths, strict=True) if length <= LONGEST_ANSWER]
    is_cut = len(shown) < len(texts)
    if is_cut and (first := json.loads(texts[-1]))["what"] == "created":
        shown.append(first)
    return {"data": shown, "more": is_cut or len(texts) > MOST_KEPT}


def delete_document(tx: Transaction, table: DocumentTable, document_id: int) -> None:
    """Delete a document and its history. Otherwise a new document with the same id would get the old history.

    No record may refer to the document.
    """
    table.delete(tx, document_id)
    tx.execute("DELETE FROM document_changes WHERE kind = ? AND document_id = ?", (table.entity, document_id))


def differences(
    table: DocumentTable, before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Compare two states of a document. Return the changed fields that a caller may set, each with its values
    before and after.

    For the field with the lines, such as `items`, the value before has the removed lines, and the value after has
    the added lines.
    """
    differing = {
        name: {"before": _cut(before[name]), "after": _cut(after[name])}
        for name in table.fields
        if before[name] != after[name]
    }
    if before[table.lines] != after[table.lines]:
        gone, come = (_lines(table, each[table.lines]) for each in (before, after))
        if gone != come:
            differing[table.lines] = {"before": _kept(gone - come), "after": _kept(come - gone)}
    return differing


def _lines(table: DocumentTable, lines: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count equal lines. Each key of the result is a line as JSON text, and its value says how many lines are
    equal to it.

    The text has the fields that a caller may set, with the code of the article instead of its id.
    """
    names = ("article_code", *(name for name in table.line_table.fields if name != "article_id"))
    return Counter(dumps({name: line[name] for name in names if line[name] not in (None, [])}) for line in lines)


def _kept(lines: Counter[str]) -> list[Any]:
    kept: list[Any] = []
    room = LONGEST_LINES
    for line in (_cut(json.loads(text)) for text in lines.elements()):
        room -= len(dumps(line))
        if kept and room < 0:
            return [*kept, MORE]
        kept.append(line)
    return kept


def _cut(value: Any) -> Any:
    match value:
        case str():
            return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}{MORE}"
        case list():
            return value if len(value) <= MOST_PARTS else [*value[:MOST_PARTS], MORE]
        case dict():
            return {name: _cut(each) for name, each in value.items()}
    return value
