"""The one way to change a quantity: a movement, posted to the ledger and to the balance together."""

from dataclasses import asdict, dataclass

from wmsd.db.transaction import Transaction
from wmsd.stock import store
from wmsd.stock.telling import tell_at_end


@dataclass(frozen=True, slots=True)
class Movement:
    """Signed millionths: what the balance gains, and what of it enters quarantine; and why."""

    quantity: int
    kind: str
    quarantined: int = 0
    lot_number: str | None = None
    serial: str | None = None
    document_id: int | None = None
    document_line_id: int | None = None
    reason: str | None = None


def post(tx: Transaction, stock_id: int, movement: Movement) -> None:
    """Raises sqlite3.IntegrityError when a balance would fall below 0: callers check first, and say it well."""
    tell_at_end(tx, [stock_id])
    store.post(tx, {"stock_id": stock_id, **asdict(movement)})
