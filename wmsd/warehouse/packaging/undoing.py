"""Takes imported movements of packaging back: each gets its opposite, since a recorded one is never changed."""

from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.undo_rows import Made
from wmsd.warehouse.packaging.packaging_ledger import Movement, record

MOVED: Final = """
    SELECT packaging_type_id, partner_id, iif(direction = 'IN', 'OUT', 'IN'), quantity FROM packaging_movements
    WHERE id > ? AND id <= ? ORDER BY id
"""


def take_back(tx: Transaction, made: Made, reason: str) -> None:
    """Raises Problem (422) when a balance would exceed its bounds."""
    for moved in tx.rows(MOVED, (made.after, made.last)):
        type_id, partner_id, direction, quantity = moved
        record(tx, Movement(type_id, partner_id, direction, quantity, notes=reason))
