"""Emits the events of stock once, at the end of a unit of work.

`stock.updated` for each article and warehouse whose balances changed; `stock.low` when the available quantity fell
to or below the article's min_stock. It is emitted again only after the available quantity has recovered.
"""

from collections.abc import Iterable

from wmsd.db.transaction import Transaction
from wmsd.outbox.events import record_event, record_events
from wmsd.stock import store


def emit_at_end(tx: Transaction, stock_ids: Iterable[int]) -> None:
    """Call it before the records are changed: it notes the available quantities before the change."""
    available_before = tx.at_end("stock", lambda gathered: _tell(tx, gathered), dict[int, int])
    new = [stock_id for stock_id in stock_ids if stock_id not in available_before]
    if new:
        available_before.update(store.available(tx, new))


def _tell(tx: Transaction, available_before: dict[int, int]) -> None:
    record_events(tx, "stock.updated", store.UPDATED, {"ids": store.ids_json(available_before)})
    for stock_id, available, is_low in store.crossings(tx, available_before):
        if not is_low:
            store.mark_low(tx, stock_id, False)
        elif available < available_before[stock_id]:
            store.mark_low(tx, stock_id, True)
            record_event(tx, "stock.low", stock_id, store.low_data(tx, stock_id))
