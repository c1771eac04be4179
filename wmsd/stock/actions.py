"""The use cases of stock. The REST interfaces read it; counts come from the command line and the admin pages."""

from functools import partial

from wmsd.base.operation import operation
from wmsd.base.problems import invalid
from wmsd.base.quantity import to_text
from wmsd.base.results import CursorPage, Page
from wmsd.db.transaction import Transaction
from wmsd.stock import lots, store
from wmsd.stock.ledger import Movement, post
from wmsd.stock.schema import DetailedStockRecord, StockCursorQuery, StockQuery, StockRecord

reading = partial(operation, tag="Stock", returns=StockRecord, module="stock", ability="stock:read")


@reading(answer="page")
def list_stock(tx: Transaction, query: StockQuery) -> Page:
    """List stock records, page by page."""
    return store.page(tx, query)


@operation(tag="Stock", answer="cursor", returns=DetailedStockRecord, module="stock", ability="stock:read")
def walk_stock(tx: Transaction, query: StockCursorQuery, position: int) -> CursorPage:
    """List stock records by cursor.

    Follow `next_cursor` until it is null. `detail=lots` adds to each record its lots, the oldest first, and, where
    the article is tracked by serials, those that are there.
    """
    return store.after(tx, query, position)


def count_stock(tx: Transaction, article_id: int, warehouse_id: int, counted: int, reason: str) -> bool:
    """Sets the quantity to what was counted (millionths), as a movement of the difference.

    Answers whether anything moved. Raises Problem (422 on `quantity`) when orders or quarantine hold
    more, or when it would take away goods of lots or with serials: which of them, it does not say.
    """
    stock_id = store.id_of(tx, article_id, warehouse_id)
    balance = store.balance(tx, stock_id)
    held = balance["reserved"] + balance["quarantined"]
    if counted < held:
        raise invalid({"quantity": [f"is below the {to_text(held)} that orders and quarantine hold"]})
    difference: int = counted - balance["quantity"]
    if difference < 0:
        _check_unnamed(tx, stock_id, -difference)
    if difference:
        post(tx, stock_id, Movement(quantity=difference, kind="count", reason=reason))
    return difference != 0


def _check_unnamed(tx: Transaction, stock_id: int, taken: int) -> None:
    unnamed = lots.free_unnamed(tx, stock_id, None)
    if taken > unnamed:
        sentence = (
            f"takes away {to_text(taken)}, but only {to_text(unnamed)} have neither lot nor serial: name those"
        )
        raise invalid({"quantity": [sentence]})
