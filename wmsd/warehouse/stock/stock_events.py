"""The events of stock. They are recorded once, at the end of a unit of work.

`stock.updated` is recorded for each article and warehouse whose balances changed. `stock.low` is recorded when the
available quantity falls to the minimum stock or below. Before the next `stock.low`, the quantity must rise above
the minimum. There is one exception: after a change of the minimum, `stock.low` is also recorded when the quantity
falls to the new minimum.
"""

from collections.abc import Iterable

from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.events import record_events
from wmsd.warehouse.stock import low_stock, stock_staging, store
from wmsd.warehouse.stock.low_stock import LowStockChange


def emit_at_end(tx: Transaction, stock_ids: Iterable[int]) -> None:
    """Record the events of these stock records at the end of the unit of work.

    Call this function before you change the records, because it reads the available quantities before the change.
    """
    available_before = tx.at_end("stock", lambda gathered: _tell(tx, gathered), dict[int, int])
    new = [stock_id for stock_id in stock_ids if stock_id not in available_before]
    if new:
        available_before.update(store.available(tx, new))


def _tell(tx: Transaction, available_before: dict[int, int]) -> None:
    record_events(tx, "stock.updated", store.UPDATED, {"ids": store.ids_json(available_before)})
    _emit_low_stock(tx, low_stock.low_stock_changes(tx, available_before))


def emit_staged(tx: Transaction, last_id: int) -> None:
    """Record the events for the staged stock changes of an import.

    `last_id` is the last id of a stock record before the import created new records.
    """
    record_events(tx, "stock.updated", stock_staging.UPDATED, {"last_id": last_id})
    _emit_low_stock(tx, low_stock.crossings_staged(tx, last_id))


def _emit_low_stock(tx: Transaction, low_stock_changes: Iterable[LowStockChange]) -> None:
    fallen: list[int] = []
    risen: list[int] = []
    for each in low_stock_changes:
        if not each.is_low:
            risen.append(each.stock_id)
        elif each.available < each.available_before:
            fallen.append(each.stock_id)
    low_stock.mark_reported(tx, risen, False)
    low_stock.mark_reported(tx, fallen, True)
    if fallen:
        record_events(tx, "stock.low", low_stock.LOW, {"ids": store.ids_json(fallen)})
