"""The operations on lots, serials and movements of an article, for users in the browser. API clients get lots and
serials from the list of stock, with `detail=lots`.
"""

from functools import partial

from wmsd.base.problems import not_found, or_not_found
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Records, Text
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import part_history
from wmsd.warehouse.stock.schema import (
    ArticleMovement,
    ArticleMovementQuery,
    LotInStock,
    LotsQuery,
    SerialInStock,
    SerialsQuery,
    StockPart,
)

reading = partial(operation, tag="Stock", module="stock", ability="stock:read")


@reading(answer="cursor", returns=LotInStock)
def list_lots(tx: Transaction, id: int, query: LotsQuery, position: int) -> CursorPage:
    """List the lots of an article that are in stock.

    The oldest lot comes first.
    """
    return part_history.lots(tx, id, query, position)


@reading(answer="records", returns=SerialInStock)
def list_serials(tx: Transaction, id: int, query: SerialsQuery) -> Records:
    """List serials of an article that are in stock.

    The serials are in alphabetical order. The list has at most 51 serials.
    """
    return part_history.serials(tx, id, query)


@reading(answer="object", returns=StockPart)
def get_lot(tx: Transaction, id: int, lot_number: str) -> Text:
    """Get a lot of an article.

    The answer contains the quantity of the lot in each warehouse, and the documents that reserve the lot.
    """
    return Text(or_not_found(part_history.find_lot(tx, id, lot_number), "lot"))


@reading(answer="object", returns=StockPart)
def get_serial(tx: Transaction, id: int, serial: str) -> Text:
    """Get a serial of an article.

    The answer contains the warehouse of the serial, and the document that reserves the serial.
    """
    return Text(or_not_found(part_history.find_serial(tx, id, serial), "serial"))


@reading(answer="cursor", returns=ArticleMovement)
def list_article_movements(tx: Transaction, id: int, query: ArticleMovementQuery, position: int) -> CursorPage:
    """List the movements of an article.

    The list can be limited to one lot or one serial. The newest movement comes first.
    """
    if not tx.value("SELECT EXISTS (SELECT 1 FROM articles WHERE id = ?)", (id,)):
        raise not_found("article")
    return part_history.movements_of_article(tx, id, query, position)
