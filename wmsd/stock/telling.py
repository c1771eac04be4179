"""What moved in a unit of work is told once, at its end.

`stock.updated` for each article and warehouse whose balances changed, and `stock.low` where available fell to or
under the article's min_stock; it is armed again when available has recovered.
"""

from wmsd.db.transaction import Transaction
from wmsd.outbox.events import record_event
from wmsd.stock import store


def tell_at_end(tx: Transaction, stock_id: int) -> None:
    """Call it before the record is changed: it notes what was available until then."""
    available_before = tx.at_end("stock", lambda gathered: _tell(tx, gathered), dict[int, int])
    if stock_id not in available_before:
        available_before[stock_id] = store.available(tx, stock_id)


def _tell(tx: Transaction, available_before: dict[int, int]) -> None:
    for stock_id, before in available_before.items():
        updated, available, min_stock, was_low = store.told(tx, stock_id)
        record_event(tx, "stock.updated", stock_id, updated)
        is_low = min_stock is not None and available <= min_stock
        if is_low and not was_low and available < before:
            store.mark_low(tx, stock_id, True)
            record_event(tx, "stock.low", stock_id, store.low_data(tx, stock_id))
        elif was_low and not is_low:
            store.mark_low(tx, stock_id, False)
