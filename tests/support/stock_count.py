"""Counts one stock record, as a file with one row does."""

from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock.adjustments import change_parts
from wmsd.warehouse.stock.counts import KIND
from wmsd.warehouse.stock.parts import UNNAMED, Contents, Parts
from wmsd.warehouse.stock.rules import Counted, Fault, count_parts


def count_stock(tx: Transaction, article_id: int, warehouse_id: int, counted: int, reason: str) -> bool:
    """Set the quantity of a stock record to `counted`, in millionths.

    Return True if anything changed. Raise Problem if the count is refused.
    """

    def make(before: Contents, faults: list[Fault]) -> Parts:
        return count_parts(before, [Counted(UNNAMED, counted)], faults)

    return bool(change_parts(tx, (article_id, warehouse_id), make, KIND, reason, "quantity"))
