"""Reservations of stock for open documents. Goods that a document has reserved stay in stock, but no other
document can take them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.results import Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import change_columns
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock import store
from wmsd.warehouse.stock.schema import StockHolder
from wmsd.warehouse.stock.stock_events import emit_at_end


class Holder(NamedTuple):
    """A document of any kind that reserves stock. `kind` is the first part of the names of the document's events,
    such as `sales_order`.
    """

    kind: str
    id: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """The stock that a document reserves.

    `stock` has the reserved quantity in millionths, by the id of the stock record. It includes the lots and
    serials that the document names. `lots` has the quantity in millionths of each named lot, by the id of the lot.
    `serials` has the ids of the named serials.
    """

    stock: Mapping[int, int] = field(default_factory=dict)
    lots: Mapping[int, int] = field(default_factory=dict)
    serials: frozenset[int] = frozenset()


NOTHING: Final = Reservation()

HELD: Final = """
    WITH wanted AS (SELECT value AS id FROM json_each(:ids))
    SELECT holder_id, 'stock', stock_id, quantity
    FROM wanted CROSS JOIN reservations ON holder_kind = :kind AND holder_id = wanted.id
    UNION ALL SELECT holder_id, 'lot', lot_id, quantity
    FROM wanted CROSS JOIN lot_reservations ON holder_kind = :kind AND holder_id = wanted.id
    UNION ALL SELECT holder_id, 'serial', stock_serials.id, NULL
    FROM wanted CROSS JOIN stock_serials ON holder_kind = :kind AND holder_id = wanted.id
"""


def reservation_of(tx: Transaction, holder: Holder) -> Reservation:
    return reservations_of(tx, holder.kind, [holder.id])[holder.id]


def reservations_of(tx: Transaction, kind: str, document_ids: Sequence[int]) -> dict[int, Reservation]:
    """Return the reservation of each of these documents, by id."""
    found: dict[int, dict[str, dict[int, int]]] = {
        document_id: {"stock": {}, "lot": {}, "serial": {}} for document_id in document_ids
    }
    for document_id, what, row_id, quantity in tx.rows(HELD, {"kind": kind, "ids": dumps(list(document_ids))}):
        found[document_id][what][row_id] = quantity
    return {
        document_id: Reservation(parts["stock"], parts["lot"], frozenset(parts["serial"]))
        for document_id, parts in found.items()
    }


MOST_HOLDERS: Final = 20
HOLDERS: Final = f"""
    SELECT group_concat(record, ',') FROM (
        SELECT {record_sql(StockHolder, {"id": "holder_id", "kind": "holder_kind"})} AS record
        FROM reservations WHERE stock_id = ? ORDER BY holder_id, holder_kind LIMIT {MOST_HOLDERS}
    )
"""
"""Selects the documents that reserve a stock record. The query reads the whole table of reservations. The table is
small, because only open documents have reservations.
"""


def holders_of(tx: Transaction, stock_id: int) -> Records:
    """Return the documents that reserve a stock record, the smallest id first, at most `MOST_HOLDERS`."""
    return Records(tx.value(HOLDERS, (stock_id,)) or "")


def set_reservation(tx: Transaction, holder: Holder, wanted: Reservation) -> None:
    """Replace the document's reservation.

    Raise sqlite3.IntegrityError if the reservation is more than is in stock. Callers must check this before,
    because the error has no text for users.
    """
    _set(tx, holder.kind, {holder.id: (reservation_of(tx, holder), wanted)})


def release_reservations(tx: Transaction, kind: str, reservations: Mapping[int, Reservation]) -> None:
    """Release reservations. `reservations` has the current reservation of each document, by document id."""
    _set(tx, kind, {document_id: (before, NOTHING) for document_id, before in reservations.items()})


def reserve_for_new(tx: Transaction, kind: str, wanted: Mapping[int, Reservation]) -> None:
    """Reserve stock for documents that have no reservations yet. `wanted` has the new reservation of each
    document, by document id.
    """
    _set(tx, kind, {document_id: (NOTHING, each) for document_id, each in wanted.items()})


def _set(tx: Transaction, kind: str, reservations: Mapping[int, tuple[Reservation, Reservation]]) -> None:
    """Write reservations. `reservations` has the current and the wanted reservation of each document, by id."""
    sums: Counter[int] = Counter()
    rows: list[tuple[str, int, int, int]] = []
    for document_id, (before, wanted) in reservations.items():
        changes = _changes(before.stock, wanted.stock)
        for stock_id, change in changes.items():
            sums[stock_id] += change
        rows += [(kind, document_id, stock_id, wanted.stock.get(stock_id, 0)) for stock_id in changes]
    emit_at_end(tx, sums)
    store.change_reserved(tx, sums)
    store.write_reservations(tx, rows)
    for document_id, (before, wanted) in reservations.items():
        if before.lots or wanted.lots or before.serials != wanted.serials:
            _set_named(tx, Holder(kind, document_id), before, wanted)


def _set_named(tx: Transaction, holder: Holder, before: Reservation, wanted: Reservation) -> None:
    changes = _changes(before.lots, wanted.lots)
    if changes:
        tx.executemany(ADD_TO_LOT, [(change, lot_id) for lot_id, change in changes.items()])
        tx.executemany(TOUCH_RECORD, [{**change_columns(tx), "lot_id": lot_id} for lot_id in changes])
        rows = [(*holder, lot_id, wanted.lots.get(lot_id, 0)) for lot_id in changes]
        tx.executemany(RESERVE_LOT, [row for row in rows if row[-1]])
        tx.executemany(RELEASE_LOT, [row[:-1] for row in rows if not row[-1]])
    if before.serials != wanted.serials:
        tx.execute(RELEASE_SERIALS, holder)
        tx.execute(HOLD_SERIALS, (*holder, dumps(sorted(wanted.serials))))


def _changes(before: Mapping[int, int], wanted: Mapping[int, int]) -> dict[int, int]:
    return {
        row_id: change
        for row_id in sorted({*before, *wanted})
        if (change := wanted.get(row_id, 0) - before.get(row_id, 0))
    }


ADD_TO_LOT: Final = "UPDATE stock_lots SET reserved = reserved + ? WHERE id = ?"
TOUCH_RECORD: Final = """
    UPDATE stock SET change_seq = :change_seq, updated_at = :updated_at
    WHERE id = (SELECT stock_id FROM stock_lots WHERE id = :lot_id)
"""
"""Marks the stock record of a lot as changed. Answers show a stock record together with its lots. So the record
has changed for the reader, even if its own reserved quantity is the same.
"""
RESERVE_LOT: Final = """
    INSERT INTO lot_reservations (holder_kind, holder_id, lot_id, quantity) VALUES (?, ?, ?, ?)
    ON CONFLICT (holder_kind, holder_id, lot_id) DO UPDATE SET quantity = excluded.quantity
"""
RELEASE_LOT: Final = "DELETE FROM lot_reservations WHERE holder_kind = ? AND holder_id = ? AND lot_id = ?"
RELEASE_SERIALS: Final = """
    UPDATE stock_serials SET holder_kind = NULL, holder_id = NULL WHERE holder_kind = ? AND holder_id = ?
"""
HOLD_SERIALS: Final = """
    UPDATE stock_serials SET holder_kind = ?, holder_id = ? WHERE id IN (SELECT value FROM json_each(?))
"""
