"""The use cases of stock that read it. Counts come from files, adjustments from the command line."""

from functools import partial

from wmsd.base.problems import invalid, not_found, or_not_found
from wmsd.contract.list_queries import IdsQuery
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Records, Text
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import explanation, history, store
from wmsd.warehouse.stock.schema import (
    DetailedStockRecord,
    ExplanationQuery,
    StockCursorQuery,
    StockExplanation,
    StockHolder,
    StockMovement,
    StockMovementQuery,
    StockOfArticlesQuery,
    StockQuery,
    StockRecord,
)
from wmsd.warehouse.stock.stock_reservations import holders_of

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


@reading(answer="records")
def find_stock(tx: Transaction, query: IdsQuery) -> Records:
    """Find stock records by their ids."""
    return store.find(tx, query.ids)


@operation(tag="Stock", answer="object", returns=StockExplanation, module="stock", ability="stock:read")
def explain_stock(tx: Transaction, id: int, query: ExplanationQuery) -> Text:
    """Explain a quantity by the ledger, now or at a past moment."""
    if query.at is not None and query.at > tx.timestamp:
        raise invalid({"at": ["is in the future"]})
    return or_not_found(explanation.explain(tx, id, query.at), "stock record")


@operation(tag="Stock", answer="cursor", returns=StockMovement, module="stock", ability="stock:read")
def list_stock_movements(tx: Transaction, id: int, query: StockMovementQuery, position: int) -> CursorPage:
    """List the movements of a stock record, the newest first."""
    _check_there(tx, id)
    return history.before(tx, id, query, position)


@operation(tag="Stock", answer="records", returns=StockHolder, module="stock", ability="stock:read")
def list_stock_holders(tx: Transaction, id: int) -> Records:
    """List the open documents that hold a stock record, the oldest first: at most 20."""
    _check_there(tx, id)
    return holders_of(tx, id)


def _check_there(tx: Transaction, stock_id: int) -> None:
    if not history.is_there(tx, stock_id):
        raise not_found("stock record")
