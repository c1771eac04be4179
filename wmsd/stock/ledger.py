"""The one way to change stock: a movement, posted to the ledger and to the balance together.

Whatever moved in a unit of work is told once, at its end: `stock.updated` for each article and warehouse,
and `stock.low` where available fell to or under the article's min_stock.
"""

from dataclasses import asdict, dataclass

from wmsd.db.transaction import Transaction
from wmsd.outbox.events import record_event
from wmsd.stock import store


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
    _remember(tx, stock_id)
    store.post(tx, {"stock_id": stock_id, **asdict(movement)})


def _remember(tx: Transaction, stock_id: int) -> None:
    """Notes what was available before this unit of work first touched the record."""
    available_before = tx.at_end("stock", lambda gathered: _tell(tx, gathered), dict[int, int])
    if stock_id not in available_before:
        available_before[stock_id] = store.balance(tx, stock_id)["available"]


def _tell(tx: Transaction, available_before: dict[int, int]) -> None:
    for stock_id, before in available_before.items():
        record_event(tx, "stock.updated", stock_id, store.updated_data(tx, stock_id))
        now = store.balance(tx, stock_id)
        is_low = now["min_stock"] is not None and now["available"] <= now["min_stock"]
        if is_low and not now["is_low"] and now["available"] < before:
            store.mark_low(tx, stock_id, True)
            record_event(tx, "stock.low", stock_id, store.low_data(tx, stock_id))
        elif not is_low and now["is_low"]:
            store.mark_low(tx, stock_id, False)
