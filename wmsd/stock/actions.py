"""The use cases of stock. The REST interfaces read it; counts come from the command line and the admin pages."""

from functools import partial

from wmsd.base.operation import operation
from wmsd.base.results import CursorPage, Page, Records
from wmsd.db.transaction import Transaction
from wmsd.stock import store
from wmsd.stock.adjusting import change_parts
from wmsd.stock.contents import UNNAMED, Contents, Parts
from wmsd.stock.counting import KIND
from wmsd.stock.rules import Counted, Fault, count_parts
from wmsd.stock.schema import DetailedStockRecord, StockCursorQuery, StockOfArticlesQuery, StockQuery, StockRecord

reading = partial(operation, tag="Stock", returns=StockRecord, module="stock", ability="stock:read")


@reading(answer="page")
def list_stock(tx: Transaction, query: StockQuery) -> Page:
    """List stock records, page by page."""
    return store.page(tx, query)


@operation(tag="Stock", answer="cursor", returns=DetailedStockRecord, module="stock", ability="stock:read")
def walk_stock(tx: Transaction, query: StockCursorQuery, position: int) -> CursorPage:
    """List stock records by cursor.

    Follow `next_cursor` until it is null. `detail=lots` adds to each record its lots, the oldest first; for an
    article that is tracked by serials, it also adds the serials in stock.
    """
    return store.after(tx, query, position)


@operation(tag="Stock", answer="records", returns=DetailedStockRecord, module="stock", ability="stock:read")
def find_stock_of_articles(tx: Transaction, query: StockOfArticlesQuery) -> Records:
    """Find the stock records of some articles."""
    return store.find_of_articles(tx, query)


def count_stock(tx: Transaction, article_id: int, warehouse_id: int, counted: int, reason: str) -> bool:
    """Sets the quantity to what was counted (millionths) and posts the difference as a movement.

    Answers whether anything moved. Raises Problem (422 on `quantity`) when orders or quarantine hold more than was
    counted, or when lots or serials would have to go: the count does not say which.
    """

    def make(before: Contents, faults: list[Fault]) -> Parts:
        return count_parts(before, [Counted(UNNAMED, counted)], faults)

    return bool(change_parts(tx, (article_id, warehouse_id), make, KIND, reason, "quantity"))
