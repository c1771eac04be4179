"""Functions that create documents of every kind, and change their fields or status. For each change, they record
an event and an entry in the document's history.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.events import record_event
from wmsd.warehouse.documents.change_history import note_changed, note_created, note_moved
from wmsd.warehouse.documents.table import DocumentTable

Lines = Sequence[Mapping[str, Any]]


def create_and_emit(tx: Transaction, table: DocumentTable, values: Mapping[str, object], lines: Lines) -> Record:
    """Create a document with its lines, and record its event."""
    document_id = table.insert(tx, values)
    table.line_table.write(tx, document_id, lines)
    note_created(tx, table, [document_id])
    return _emit_created(tx, table, document_id)


def emit_several_created(tx: Transaction, table: DocumentTable, ids: Sequence[int]) -> dict[int, Record]:
    """Record an event for each of the documents, which were created together. Return their records by id."""
    note_created(tx, table, ids)
    records = table.several(tx, ids)
    for document_id in ids:
        record_event(tx, f"{table.entity}.created", document_id, records[document_id].json)
    return records


def update_and_emit(
    tx: Transaction, table: DocumentTable, document_id: int, values: Mapping[str, object], lines: Lines | None
) -> None:
    """Change a document, and record its event. If `lines` is not None, also replace its lines."""
    before = table.one(tx, document_id)
    table.update(tx, document_id, values)
    if lines is not None:
        table.line_table.write(tx, document_id, lines)
    emit_updated(tx, table, before)


def emit_updated(tx: Transaction, table: DocumentTable, before: Record) -> None:
    """Record the event of a change. `before` is the document before the change."""
    record = table.one(tx, before.id)
    data = table.with_changed_lines(tx, before, record) if table.tells_changed_lines else record.json
    record_event(tx, f"{table.entity}.updated", before.id, data)
    note_changed(tx, table, before, record)


def _emit_created(tx: Transaction, table: DocumentTable, document_id: int) -> Record:
    record = table.one(tx, document_id)
    record_event(tx, f"{table.entity}.created", document_id, record.json)
    return record


def move_and_emit(tx: Transaction, table: DocumentTable, ids: Sequence[int], current: str, requested: str) -> None:
    """Change the status of documents from `current` to `requested`, and record their events.

    The caller must first check that the change is allowed. The caller must also carry out the other effects of the
    change, such as stock movements.
    """
    payloads = table.move(tx, ids, current, requested)
    note_moved(tx, table, ids, requested)
    for document_id in ids:
        record_event(tx, f"{table.entity}.status_changed", document_id, payloads[document_id])
