"""The search index of a company, and its update after changes (migration 0029)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.search.search_kinds import PARTS, RECORDS, PartKind, SearchKind
from wmsd.warehouse.search.search_text import folded_fields, index_text

PIECE: Final = 100
"""The maximum number of records of each kind that one transaction adds to the index, and also of movements. Other
writers wait a few milliseconds for this transaction.
"""

Key = int | str

PROGRESS: Final = "SELECT last_change, last_movement FROM search_progress"
KEEP_PROGRESS: Final = "UPDATE search_progress SET last_change = ?, last_movement = ?"
CHANGED: Final = """
    SELECT change_seq, id, {texts} FROM {table} WHERE change_seq > ? ORDER BY change_seq LIMIT ?
"""
MOVED: Final = """
    SELECT moved.id, stock.article_id, moved.lot_number, moved.serial
    FROM stock_movements AS moved CROSS JOIN stock ON stock.id = moved.stock_id
    WHERE moved.id > ? AND moved.id <= ? ORDER BY moved.id
"""
LAST_MOVEMENT: Final = "SELECT coalesce(max(id), 0) FROM stock_movements"
KNOWN: Final = """
    SELECT key, number, digest FROM search_entries WHERE kind = ? AND key IN (SELECT value FROM json_each(?))
"""
LAST_NUMBER: Final = "SELECT coalesce(max(number), 0) FROM search_entries"
PUT_ENTRY: Final = """
    INSERT INTO search_entries (number, kind, key, digest) VALUES (?, ?, ?, ?)
    ON CONFLICT (number) DO UPDATE SET digest = excluded.digest
"""
EMPTY: Final = (
    "INSERT OR REPLACE INTO search_index_config (k, v) VALUES ('version', 4)",
    "INSERT INTO search_index (search_index) VALUES ('delete-all')",
    "DELETE FROM search_entries",
    "INSERT OR REPLACE INTO search_progress (one, last_change, last_movement) VALUES (1, 0, 0)",
)
"""The statements that empty the index. The first statement writes the version of the index format. If this version
is damaged, SQLite cannot open the index.
"""
PUT_TEXT: Final = "INSERT OR REPLACE INTO search_index (rowid, text) VALUES (?, ?)"


class Progress(NamedTuple):
    """How far the index is up to date. `last_change` is the last indexed position in the change sequence.
    `last_movement` is the id of the last indexed movement.
    """

    last_change: int
    last_movement: int


class Changed(NamedTuple):
    """A changed record, with its number in the change sequence and its current fields in the form of `fold`."""

    change: int
    key: Key
    fields: list[str]


def progress(tx: Transaction) -> Progress:
    found = tx.row(PROGRESS)
    assert found is not None
    return Progress(*found)


def is_current(tx: Transaction) -> bool:
    """Return True if the index has all changes."""
    return progress(tx) == Progress(tx.last_change(), tx.value(LAST_MOVEMENT))


def index_changes(tx: Transaction) -> bool:
    """Add the next changes to the index, in their order. Return True if there are more changes."""
    before = progress(tx)
    until, by_kind = _changed_records(tx, before.last_change)
    for kind, records in by_kind:
        _put(tx, kind, {record.key: record.fields for record in records if record.change <= until})
    last_movement = min(before.last_movement + PIECE, tx.value(LAST_MOVEMENT))
    for part in PARTS:
        _put(tx, part, dict(changed_parts(tx, part, before.last_movement, last_movement)))
    now = Progress(until, last_movement)
    if now != before:
        tx.execute(KEEP_PROGRESS, now)
    return not is_current(tx)


def _changed_records(tx: Transaction, after: int) -> tuple[int, Sequence[tuple[SearchKind, list[Changed]]]]:
    """Return a position in the change sequence, and the records that changed after the position `after`, by kind.
    At most `PIECE` records of each kind are returned, those that changed first.

    No changed record is missing in the result up to the returned position.
    """
    until, found = tx.last_change(), []
    for kind in RECORDS:
        records = list(changed_records(tx, kind, after, PIECE))
        found.append((kind, records))
        if len(records) == PIECE:
            until = min(until, records[-1].change)
    return until, found


def changed_records(tx: Transaction, kind: SearchKind, after: int, most: int) -> Iterator[Changed]:
    """Return the records of the kind that changed after the number `after` of the change sequence. Return at most
    `most` records, those that changed first.
    """
    sql = CHANGED.format(texts=", ".join(kind.texts), table=kind.table)
    for change, record_id, *values in tx.rows(sql, (after, most)):
        yield Changed(change, record_id, folded_fields(values))


def changed_parts(tx: Transaction, part: PartKind, after: int, until: int) -> Iterator[tuple[Key, list[str]]]:
    """Yield the lots or serials in movements. The ids of these movements are greater than `after`, and at most
    `until`. Each item has the key of the lot or serial, and its text in the form of `fold`.
    """
    for _, article_id, lot_number, serial in tx.rows(MOVED, (after, until)):
        text = lot_number if part.column == "lot_number" else serial
        if text is not None:
            yield f"{article_id}:{text}", folded_fields([text])


def _put(tx: Transaction, kind: SearchKind | PartKind, texts: Mapping[Key, Iterable[str]]) -> None:
    """Write the texts of these records to the index. Skip records whose text in the index is already the same."""
    if not texts:
        return
    known = {key: (number, digest) for key, number, digest in tx.rows(KNOWN, (kind.name, dumps(list(texts))))}
    next_number = tx.value(LAST_NUMBER) + 1
    entries, rows = [], []
    for key, fields in texts.items():
        text = index_text(kind.mark, fields)
        digest = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
        number, old = known.get(key, (next_number, None))
        if digest != old:
            entries.append((number, kind.name, key, digest))
            rows.append((number, text))
        next_number += key not in known
    tx.executemany(PUT_ENTRY, entries)
    tx.executemany(PUT_TEXT, rows)


def empty_index(tx: Transaction | sqlite3.Connection) -> bool:
    """Empty the index, even if it is damaged. Return True, because the records must now be indexed again."""
    for statement in EMPTY:
        tx.execute(statement)
    return True
