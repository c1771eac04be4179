"""The operations on stock records. Counts are in the package `warehouse/counts`."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from wmsd.base.problems import invalid, not_found, or_not_found
from wmsd.contract.list_queries import IdsQuery
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record, Records, Text
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import adjustments, explanation, history, store
from wmsd.warehouse.stock.schema import (
    Adjustment,
    DetailedStockRecord,
    ExplanationQuery,
    Quarantining,
    StockChange,
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

Body = TypeVar("Body", bound=StockChange)

reading = partial(operation, tag="Stock", returns=StockRecord, module="stock", ability="stock:read")
writing = partial(
    operation,
    tag="Stock",
    answer="record",
    returns=StockRecord,
    module="stock",
    ability="stock:write",
    writes=True,
    events=("stock.updated", "stock.low"),
    precondition=store.one,
)


@reading(answer="page")
def list_stock(tx: Transaction, query: StockQuery) -> Page:
    """List stock records, page by page."""
    return store.page(tx, query)


@operation(tag="Stock", answer="cursor", returns=DetailedStockRecord, module="stock", ability="stock:read")
def walk_stock(tx: Transaction, query: StockCursorQuery, position: int) -> CursorPage:
    """List stock records by cursor.

    Follow `next_cursor` until it is null. With `detail=lots`, each record contains its lots, the oldest first. For
    an article that is tracked by serials, the record also contains the serials in stock.
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


@reading(answer="record")
def get_stock(tx: Transaction, id: int) -> Record:
    """Get a stock record."""
    return store.one(tx, id)


@operation(tag="Stock", answer="object", returns=StockExplanation, module="stock", ability="stock:read")
def explain_stock(tx: Transaction, id: int, query: ExplanationQuery) -> Text:
    """Explain a quantity by the ledger.

    You can ask for the quantity now, or for the quantity at a past moment.
    """
    if query.at is not None and query.at > tx.timestamp:
        raise invalid({"at": ["is in the future"]})
    return or_not_found(explanation.explain(tx, id, query.at), "stock record")


@operation(tag="Stock", answer="cursor", returns=StockMovement, module="stock", ability="stock:read")
def list_stock_movements(tx: Transaction, id: int, query: StockMovementQuery, position: int) -> CursorPage:
    """List the movements of a stock record.

    The newest movement comes first.
    """
    _check_there(tx, id)
    return history.before(tx, id, query, position)


@operation(tag="Stock", answer="records", returns=StockHolder, module="stock", ability="stock:read")
def list_stock_holders(tx: Transaction, id: int) -> Records:
    """List the open documents that reserve a stock record.

    The oldest document comes first. The list has at most 20 documents.
    """
    _check_there(tx, id)
    return holders_of(tx, id)


@writing()
def adjust_stock(tx: Transaction, id: int, body: Adjustment) -> Record:
    """Change the quantity of a stock record.

    The request has a difference or a new total.
    """
    return _changed(tx, id, adjustments.adjust, body)


@writing()
def quarantine_stock(tx: Transaction, id: int, body: Quarantining) -> Record:
    """Put goods of a stock record into quarantine."""
    return _changed(tx, id, adjustments.quarantine, body)


@writing()
def release_stock(tx: Transaction, id: int, body: Quarantining) -> Record:
    """Release goods of a stock record from quarantine."""
    return _changed(tx, id, adjustments.release, body)


def _changed(
    tx: Transaction, stock_id: int, change: Callable[[Transaction, int, int, Body], object], body: Body
) -> Record:
    """Apply the change and return the stock record. Raise Problem: 404 if there is no such stock record, 422 for
    errors in the request.
    """
    change(tx, *store.place_of(tx, stock_id), body)
    return store.one(tx, stock_id)


def _check_there(tx: Transaction, stock_id: int) -> None:
    if not history.is_there(tx, stock_id):
        raise not_found("stock record")
