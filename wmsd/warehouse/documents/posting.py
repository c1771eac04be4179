"""What forbids to post the goods of a document to stock."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wmsd.base.quantity import MAXIMUM, to_text
from wmsd.contract.field_errors import FieldError
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import store as stock


class Incoming(NamedTuple):
    """A quantity, in millionths, that enters a stock record; `path` is the field that says it."""

    path: str
    stock_id: int
    quantity: int


def overfull(tx: Transaction, incoming: Sequence[Incoming]) -> Iterator[FieldError]:
    """An error for each quantity that would take the balance of its stock record over the largest."""
    sums: Counter[int] = Counter()
    balances = stock.quantities(tx, [each.stock_id for each in incoming])
    for path, stock_id, quantity in incoming:
        sums[stock_id] += quantity
        if balances[stock_id] + sums[stock_id] > MAXIMUM:
            yield FieldError("VALIDATION_FAILED", path, f"would take the stock balance over {to_text(MAXIMUM)}")
