"""The only code that changes quantities in stock. It writes each movement to the ledger. In the same unit of work,
it changes the balance, the lot and the serial.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import lots, stock_staging, store
from wmsd.warehouse.stock.lots import Part
from wmsd.warehouse.stock.schema import MovementKind
from wmsd.warehouse.stock.stock_events import emit_at_end, emit_staged

Kind = MovementKind


class Movement(NamedTuple):
    """A movement of stock. Quantities are in signed millionths.

    `quantity` is added to the balance. `quarantined` is added to the quarantined quantity, which is part of the
    balance. `destroyed` is the quantity of goods that came in and were destroyed, and never were in the balance.
    The fields are in the order of `store.ADD_TO_LEDGER`.
    """

    quantity: int
    kind: Kind
    quarantined: int = 0
    destroyed: int = 0
    lot_number: str | None = None
    serial: str | None = None
    document_id: int | None = None
    document_line_id: int | None = None
    reason: str | None = None


NET_OUT: Final = """
    SELECT document_line_id, stock_id, -sum(quantity), lot_number, serial FROM stock_movements
    WHERE document_id = :document_id AND kind IN (SELECT value FROM json_each(:kinds))
    GROUP BY document_line_id, stock_id, lot_number, serial HAVING sum(quantity) < 0 ORDER BY min(id)
"""


def net_out(tx: Transaction, document_id: int, kinds: Sequence[Kind]) -> list[tuple[int, int, Part]]:
    """Return the goods that left with the document and have not come back. `kinds` are the kinds of movements by
    which goods leave and come back.

    Each item has the id of the document line, the id of the stock record, and the part.
    """
    found = tx.rows(NET_OUT, {"document_id": document_id, "kinds": dumps(list(kinds))})
    return [(line_id, stock_id, Part(*part)) for line_id, stock_id, *part in found]


def post_all(tx: Transaction, movements: Sequence[tuple[int, Movement]]) -> None:
    """Post movements in their order. Each item of `movements` is the id of a stock record and a movement.

    Each balance is written only once. Raise sqlite3.IntegrityError if a balance would fall below 0. Callers must
    check this before, because the error has no text for users.
    """
    sums: dict[int, tuple[int, int]] = {}
    for stock_id, movement in movements:
        if movement.quantity or movement.quarantined:
            quantity, quarantined = sums.get(stock_id, (0, 0))
            sums[stock_id] = (quantity + movement.quantity, quarantined + movement.quarantined)
    if sums:
        emit_at_end(tx, sums)
        store.add_to_balances(tx, sums)
    store.add_to_ledger(tx, [(stock_id, *movement) for stock_id, movement in movements])
    lots.post_all(
        tx,
        [
            {"stock_id": stock_id, **movement._asdict()}
            for stock_id, movement in movements
            if (movement.lot_number or movement.serial) and (movement.quantity or movement.quarantined)
        ],
    )


def post_staged(tx: Transaction, kind: Kind) -> None:
    """Post the staged movements of an import, or of the undo of an import (`stock_staging.py`). The unit of work
    must not change any stock in another way.
    """
    last_id = stock_staging.write(tx, kind)
    of_records = groupby(stock_staging.of_lots(tx, last_id), itemgetter("stock_id"))
    lots.change_lots(tx, (each for _, moved in of_records for each in lots.sums_of_lots(moved)))
    if stock_staging.has_serials(tx):
        lots.move_serials(
            tx, lambda: (each for each in stock_staging.of_lots(tx, last_id) if each["serial"] is not None)
        )
    emit_staged(tx, last_id)
