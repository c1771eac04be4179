"""What open sales orders hold of the stock: of what is there, it is not available to others."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
    WITH wanted AS (SELECT value AS id FROM json_each(:ids))
    SELECT sales_order_id, 'stock', stock_id, quantity
    FROM wanted CROSS JOIN reservations ON sales_order_id = wanted.id
    UNION ALL SELECT sales_order_id, 'lot', lot_id, quantity
    FROM wanted CROSS JOIN lot_reservations ON sales_order_id = wanted.id
    UNION ALL SELECT sales_order_id, 'serial', stock_serials.id, NULL
    FROM wanted CROSS JOIN stock_serials ON sales_order_id = wanted.id
"""


def held(tx: Transaction, sales_order_id: int) -> Holding:
    return held_by(tx, [sales_order_id])[sales_order_id]


def held_by(tx: Transaction, sales_order_ids: Sequence[int]) -> dict[int, Holding]:
    """What each of them holds."""
    found: dict[int, dict[str, dict[int, int]]] = {
        sales_order_id: {"stock": {}, "lot": {}, "serial": {}} for sales_order_id in sales_order_ids
    }
    for sales_order_id, what, row_id, quantity in tx.rows(HELD, {"ids": dumps(list(sales_order_ids))}):
        found[sales_order_id][what][row_id] = quantity
    return {
        sales_order_id: Holding(parts["stock"], parts["lot"], frozenset(parts["serial"]))
        for sales_order_id, parts in found.items()
    }


def hold(tx: Transaction, sales_order_id: int, wanted: Holding) -> None:
    """Makes the order hold exactly what is wanted, and nothing else.

    Raises sqlite3.IntegrityError when that is more than there is: callers check first, and say it well.
    """
    _hold(tx, {sales_order_id: (held(tx, sales_order_id), wanted)})


def release(tx: Transaction, holdings: Mapping[int, Holding]) -> None:
    """Makes orders hold nothing. By their ids: what they hold."""
    _hold(tx, {sales_order_id: (before, NOTHING) for sales_order_id, before in holdings.items()})


def hold_of_new(tx: Transaction, wanted: Mapping[int, Holding]) -> None:
    """The same for orders that hold nothing yet, by their ids."""
    _hold(tx, {sales_order_id: (NOTHING, each) for sales_order_id, each in wanted.items()})


def _hold(tx: Transaction, holdings: Mapping[int, tuple[Holding, Holding]]) -> None:
    """Of each order what it holds, and what it is to hold."""
    sums: Counter[int] = Counter()
    rows: list[tuple[int, int, int]] = []
    for sales_order_id, (before, wanted) in holdings.items():
        changes = _changes(before.stock, wanted.stock)
        for stock_id, change in changes.items():
            sums[stock_id] += change
        rows += [(sales_order_id, stock_id, wanted.stock.get(stock_id, 0)) for stock_id in changes]
    tell_at_end(tx, sums)
    store.change_reserved(tx, sums)
    store.write_reservations(tx, rows)
    for sales_order_id, (before, wanted) in holdings.items():
        if before.lots or wanted.lots or before.serials != wanted.serials:
            _hold_named(tx, sales_order_id, before, wanted)


def _hold_named(tx: Transaction, sales_order_id: int, before: Holding, wanted: Holding) -> None:
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
