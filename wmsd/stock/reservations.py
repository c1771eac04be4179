"""What open sales orders hold of the stock: of what is there, it is not available to others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction
from wmsd.stock import store
from wmsd.stock.telling import tell_at_end


@dataclass(frozen=True, slots=True)
class Holding:
    """What an order holds: of stock records, and within them of the lots that it names, by their ids, in
    millionths; and the ids of the serials that it names.
    """

    stock: Mapping[int, int] = field(default_factory=dict)
    lots: Mapping[int, int] = field(default_factory=dict)
    serials: frozenset[int] = frozenset()


NOTHING: Final = Holding()

HELD: Final = """
    SELECT 'stock', stock_id, quantity FROM reservations WHERE sales_order_id = :id
    UNION ALL SELECT 'lot', lot_id, quantity FROM lot_reservations WHERE sales_order_id = :id
    UNION ALL SELECT 'serial', id, NULL FROM stock_serials WHERE sales_order_id = :id
"""


def held(tx: Transaction, sales_order_id: int) -> Holding:
    found: dict[str, dict[int, int]] = {"stock": {}, "lot": {}, "serial": {}}
    for what, row_id, quantity in tx.rows(HELD, {"id": sales_order_id}):
        found[what][row_id] = quantity
    return Holding(found["stock"], found["lot"], frozenset(found["serial"]))


def hold(tx: Transaction, sales_order_id: int, wanted: Holding, before: Holding | None = None) -> None:
    """Makes the order hold exactly what is wanted, and nothing else. `before`: what it holds, where that is known.

    Raises sqlite3.IntegrityError when that is more than there is: callers check first, and say it well.
    """
    before = held(tx, sales_order_id) if before is None else before
    changes = _changes(before.stock, wanted.stock)
    tell_at_end(tx, changes)
    store.change_reserved(tx, changes)
    store.write_reservations(tx, sales_order_id, {row: wanted.stock.get(row, 0) for row in changes})
    changes = _changes(before.lots, wanted.lots)
    if changes:
        tx.executemany(ADD_TO_LOT, [(change, lot_id) for lot_id, change in changes.items()])
        tx.executemany(TOUCH_RECORD, [(tx.next_change(), tx.timestamp, lot_id) for lot_id in changes])
        rows = [(sales_order_id, lot_id, wanted.lots.get(lot_id, 0)) for lot_id in changes]
        tx.executemany(RESERVE_LOT, [row for row in rows if row[2]])
        tx.executemany(RELEASE_LOT, [row[:2] for row in rows if not row[2]])
    if before.serials != wanted.serials:
        tx.execute(RELEASE_SERIALS, (sales_order_id,))
        tx.execute(HOLD_SERIALS, (sales_order_id, dumps(sorted(wanted.serials))))


def _changes(before: Mapping[int, int], wanted: Mapping[int, int]) -> dict[int, int]:
    return {
        row_id: change
        for row_id in sorted({*before, *wanted})
        if (change := wanted.get(row_id, 0) - before.get(row_id, 0))
    }


ADD_TO_LOT: Final = "UPDATE stock_lots SET reserved = reserved + ? WHERE id = ?"
TOUCH_RECORD: Final = """
    UPDATE stock SET change_seq = ?, updated_at = ? WHERE id = (SELECT stock_id FROM stock_lots WHERE id = ?)
"""
"""What is shown with its lots has changed, though all that is reserved of it may be the same."""
RESERVE_LOT: Final = """
    INSERT INTO lot_reservations (sales_order_id, lot_id, quantity) VALUES (?, ?, ?)
    ON CONFLICT (sales_order_id, lot_id) DO UPDATE SET quantity = excluded.quantity
"""
RELEASE_LOT: Final = "DELETE FROM lot_reservations WHERE sales_order_id = ? AND lot_id = ?"
RELEASE_SERIALS: Final = "UPDATE stock_serials SET sales_order_id = NULL WHERE sales_order_id = ?"
HOLD_SERIALS: Final = """
    UPDATE stock_serials SET sales_order_id = ? WHERE id IN (SELECT value FROM json_each(?))
"""
