"""Queries of lots and serials: their warehouses, reservations and movements."""

from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import CursorQuery
from wmsd.contract.results import CursorPage, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.joined_records import number_that_fits
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import (
    ArticleMovement,
    ArticleMovementQuery,
    LotInStock,
    LotsQuery,
    PartPlace,
    SerialInStock,
    SerialsQuery,
    StockHolder,
    StockPart,
)

BEYOND_ALL: Final = 2**62
DIRECTIONS: Final = {None: (-1, 0, 1), "in": (1,), "out": (-1,)}
"""The signs of the quantities to find, for each value of the query parameter `direction`. 1 means that goods came
in, -1 that goods went out, and 0 that the quantity stayed.
"""
SIGN: Final = "(quantity > 0) - (quantity < 0)"
"""The SQL of the sign of a quantity. The indexes of lots and serials contain exactly this expression (migration
0033). Therefore SQLite can use these indexes.
"""

MOVEMENT: Final = record_sql(
    ArticleMovement,
    {
        **{name: f"movement.{name}" for name in ("id", "stock_id", "quantity", "quarantined")},
        "warehouse_code": "(SELECT code FROM warehouses WHERE warehouses.id = stock.warehouse_id)",
    },
)
MOVEMENTS: Final = f"""
    SELECT movement.id, {MOVEMENT}
    FROM json_each(:directions) AS direction CROSS JOIN stock
    CROSS JOIN stock_movements AS movement ON movement.id IN (
        SELECT id FROM stock_movements {{index}}
        WHERE {{narrowed}} stock_id = stock.id AND id < :position ORDER BY id DESC LIMIT :limit
    )
    WHERE stock.article_id = :article_id ORDER BY movement.id DESC LIMIT :limit
"""
"""Selects movements of an article. For each stock record and direction, the query reads at most `:limit`
movements.
"""
OF_ARTICLE: Final = MOVEMENTS.format(index="INDEXED BY stock_movements_by_stock", narrowed="")
OF_LOT: Final = MOVEMENTS.format(
    index="INDEXED BY stock_movements_by_lot",
    narrowed=f"lot_number = :lot_number AND {SIGN} = direction.value AND",
)
OF_SERIAL: Final = MOVEMENTS.format(
    index="INDEXED BY stock_movements_by_serial",
    narrowed=f"serial = :serial AND {SIGN} = direction.value AND",
)


def movements_of_article(
    tx: Transaction, article_id: int, query: ArticleMovementQuery, position: int
) -> CursorPage:
    """Return the movements whose ids are below `position`, the newest first. With position 0, start at the end of
    the ledger.

    `query.direction` only has an effect if the query names a lot or a serial.
    """
    sql = OF_SERIAL if query.serial is not None else OF_LOT if query.lot_number is not None else OF_ARTICLE
    directions = (0,) if sql is OF_ARTICLE else DIRECTIONS[query.direction]
    given = {
        "article_id": article_id,
        "lot_number": query.lot_number,
        "serial": query.serial,
        "directions": dumps(directions),
        "position": position or BEYOND_ALL,
        "limit": query.per_page + 1,
    }
    return _page(tx.rows(sql, given), query, position)


PLACE: Final = {
    "stock_id": "stock.id",
    "warehouse_code": "(SELECT code FROM warehouses WHERE warehouses.id = stock.warehouse_id)",
}
LOT_COLUMNS: Final = {
    **PLACE,
    **{name: f"stock_lots.{name}" for name in ("quantity", "reserved", "quarantined")},
    "available": "(stock_lots.quantity - stock_lots.reserved - stock_lots.quarantined)",
}
WHOLE: Final = "1000000"
SERIAL_HELD: Final = f"iif(stock_serials.holder_id IS NULL, 0, {WHOLE})"
SERIAL_QUARANTINED: Final = f"(stock_serials.quarantined * {WHOLE})"
SERIAL_COLUMNS: Final = {
    **PLACE,
    "quantity": WHOLE,
    "reserved": SERIAL_HELD,
    "quarantined": SERIAL_QUARANTINED,
    "available": f"({WHOLE} - {SERIAL_HELD} - {SERIAL_QUARANTINED})",
    "is_reserved": "stock_serials.holder_id IS NOT NULL",
    "is_quarantined": "stock_serials.quarantined",
}
OF_LOT_NOW: Final = """
    FROM stock CROSS JOIN stock_lots ON stock_lots.stock_id = stock.id AND lot_number = :name
    WHERE stock.article_id = articles.id
"""
OF_SERIAL_NOW: Final = """
    FROM stock_serials CROSS JOIN stock ON stock.id = stock_serials.stock_id
    WHERE stock_serials.article_id = articles.id AND serial = :name
"""
HOLDERS_OF_LOT: Final = f"""
    SELECT holder_kind, holder_id, sum(held.quantity) AS quantity
    FROM lot_reservations AS held WHERE lot_id IN (SELECT stock_lots.id {OF_LOT_NOW})
    GROUP BY holder_id, holder_kind ORDER BY holder_id, holder_kind
"""
HOLDER_OF_SERIAL: Final = f"""
    SELECT holder_kind, holder_id, {WHOLE} AS quantity {OF_SERIAL_NOW} AND holder_id IS NOT NULL
"""
MOST_HOLDERS: Final = 20
HOLDER: Final = record_sql(StockHolder, {"id": "holder_id", "kind": "holder_kind"})
MOVED: Final = """
    SELECT 1 FROM stock CROSS JOIN stock_movements INDEXED BY stock_movements_by_serial
        ON serial = :name AND stock_id = stock.id
    WHERE stock.article_id = articles.id
"""


def _part(number: str, serial: str, columns: dict[str, str], now: str, holders: str, there: str) -> str:
    places = f"SELECT json_group_array({record_sql(PartPlace, columns)} ORDER BY stock.id) {now}"
    record = record_sql(
        StockPart,
        {
            "article_id": "articles.id",
            "article_code": "articles.code",
            "article_name": "articles.name",
            "lot_number": number,
            "serial": serial,
            "places": f"({places})",
            "holders": f"(SELECT json_group_array({HOLDER}) FROM ({holders} LIMIT {MOST_HOLDERS}))",
            "held_by": f"(SELECT count(*) FROM ({holders}))",
        },
    )
    return f"SELECT {record} FROM articles WHERE id = :article_id AND EXISTS ({there})"


LOT: Final = _part(":name", "NULL", LOT_COLUMNS, OF_LOT_NOW, HOLDERS_OF_LOT, f"SELECT 1 {OF_LOT_NOW}")
SERIAL: Final = _part("NULL", ":name", SERIAL_COLUMNS, OF_SERIAL_NOW, HOLDER_OF_SERIAL, MOVED)


def find_lot(tx: Transaction, article_id: int, lot_number: str) -> str | None:
    """Return the lot as JSON, or None if the article never had such a lot."""
    found: str | None = tx.value(LOT, {"article_id": article_id, "name": lot_number})
    return found


def find_serial(tx: Transaction, article_id: int, serial: str) -> str | None:
    """Return the serial as JSON, or None if the article never had such a serial."""
    found: str | None = tx.value(SERIAL, {"article_id": article_id, "name": serial})
    return found


LOTS: Final = f"""
    SELECT stock_lots.id, {record_sql(LotInStock, LOT_COLUMNS)}
    FROM stock CROSS JOIN stock_lots ON stock_lots.id IN (
        SELECT id FROM stock_lots INDEXED BY stock_lots_there
        WHERE stock_id = stock.id AND quantity > 0 AND id > :position ORDER BY id LIMIT :limit
    )
    WHERE stock.article_id = :article_id AND stock.warehouse_id = coalesce(:warehouse_id, stock.warehouse_id)
    ORDER BY stock_lots.id LIMIT :limit
"""


def lots(tx: Transaction, article_id: int, query: LotsQuery, position: int) -> CursorPage:
    """Return the lots in stock whose ids are greater than `position`, the oldest first."""
    given = {
        "article_id": article_id,
        "warehouse_id": query.warehouse_id,
        "position": position,
        "limit": query.per_page + 1,
    }
    return _page(tx.rows(LOTS, given), query, position)


MOST_SERIALS: Final = 51
"""The maximum number of serials in an answer. A page displays only 50 of them. If it gets one more, it knows that
there are more.
"""
SERIALS: Final = f"""
    SELECT group_concat(record, ',') FROM (
        SELECT {record_sql(SerialInStock, SERIAL_COLUMNS)} AS record
        FROM stock_serials CROSS JOIN stock ON stock.id = stock_serials.stock_id
        WHERE stock_serials.article_id = :article_id AND serial > :after ORDER BY serial LIMIT {MOST_SERIALS}
    )
"""


def serials(tx: Transaction, article_id: int, query: SerialsQuery) -> Records:
    """Return the serials that are in stock, in alphabetical order."""
    found = tx.value(SERIALS, {"article_id": article_id, "after": query.after})
    return Records(found or "")


def _page(found: list[tuple[int, str]], query: CursorQuery, position: int) -> CursorPage:
    """Return a page with as many of the records in `found` as fit in an answer.

    `found` may have one record more than fits on a page. That record only shows that there is another page.
    """
    page = found[: number_that_fits([text for _, text in found[: query.per_page]])]
    records = ",".join(text for _, text in page)
    positions = ",".join(str(each) for each, _ in page)
    return CursorPage(records, page[-1][0] if page else position, len(found) > len(page), positions)
