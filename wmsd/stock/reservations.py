"""What open sales orders hold of the stock: of what is there, it is not available to others."""

from collections.abc import Mapping
from typing import Final

from wmsd.db.transaction import Transaction
from wmsd.stock import store
from wmsd.stock.telling import tell_at_end

NOTHING: Final[Mapping[int, int]] = {}


def hold(tx: Transaction, sales_order_id: int, wanted: Mapping[int, int]) -> None:
    """Makes the order hold exactly what is wanted (stock id to millionths), and nothing else.

    Raises sqlite3.IntegrityError when that is more than there is: callers check first, and say it well.
    """
    held = store.held(tx, sales_order_id)
    changes = {
        stock_id: change
        for stock_id in sorted({*held, *wanted})
        if (change := wanted.get(stock_id, 0) - held.get(stock_id, 0))
    }
    tell_at_end(tx, changes)
    store.change_reserved(tx, changes)
    store.write_reservations(tx, sales_order_id, {stock_id: wanted.get(stock_id, 0) for stock_id in changes})
