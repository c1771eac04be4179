"""The SQL of stock."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from wmsd.base.problems import or_not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import PageQuery
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import creation_columns, each_changed, updated_at_sql
from wmsd.db.sql.joined_records import in_parts
from wmsd.db.sql.lists import FEW_AT_ONCE, MANY_AT_ONCE, Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import (
    DetailedStockRecord,
    Lot,
    StockCursorQuery,
    StockFilters,
    StockOfArticlesQuery,
    StockRecord,
    StockUpdated,
)

NAMED: Final = """
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
"""
SOURCE: Final = f"stock {NAMED}"
"""The tables from which stock records are read. CROSS JOIN makes SQLite read `stock` first. With a plain join,
SQLite starts with the few warehouses, and must sort all stock.
"""
OWN_OR_RULE: Final = "coalesce({own}, (SELECT value FROM stock_rules WHERE name = 'min_stock'))"
MIN_STOCK: Final = OWN_OR_RULE.format(own="articles.min_stock")
COLUMNS: Final = {
    "id": "stock.id",
    "article_code": "articles.code",
    "article_name": "articles.name",
    "warehouse_code": "warehouses.code",
    "available": "(stock.quantity - stock.reserved - stock.quarantined)",
    "min_stock": MIN_STOCK,
    "created_at": "stock.created_at",
    "updated_at": "stock.updated_at",
}
RECORD: Final = record_sql(StockRecord, COLUMNS)

HELD_BY_ORDER: Final = """stock.id IN (
    SELECT stock_id FROM reservations WHERE holder_kind = 'sales_order' AND holder_id = :sales_order_id
)"""

LISTING: Final = Listing(
    source=SOURCE,
    order="stock.id",
    filters=conditions(
        StockFilters,
        warehouse_id="stock.warehouse_id = :warehouse_id",
        article_id="stock.article_id = :article_id",
        article_code="stock.article_id = (SELECT id FROM articles WHERE code = :article_code)",
        low="stock.is_low = :low",
        sales_order_id=HELD_BY_ORDER,
        updated_since="stock.change_seq > :updated_since",
    ),
    count="stock",
)


DETAILED_LISTING: Final = replace(LISTING, at_once=FEW_AT_ONCE)


def page(tx: Transaction, query: PageQuery) -> Page:
    return LISTING.page(tx, RECORD, query, query.filters())


def find(tx: Transaction, ids: Sequence[int]) -> Records:
    return LISTING.of(tx, RECORD, "stock.id", ids)


ONE: Final = f"SELECT {RECORD} FROM {SOURCE} WHERE stock.id = ?"


def one(tx: Transaction, id: int) -> Record:
    """Return the stock record. Raise Problem (404) if no stock record has the id."""
    return Record(id, or_not_found(tx.value(ONE, (id,)), "stock record"))


LOTS: Final = f"""(
    SELECT json_group_array({record_sql(Lot, {"available": "quantity - reserved - quarantined"})} ORDER BY id)
    FROM stock_lots WHERE stock_id = stock.id AND quantity > 0
)"""
SERIALS: Final = """iif(articles.track_serial, (
    SELECT json_group_array(serial ORDER BY id) FROM stock_serials WHERE stock_id = stock.id
), NULL)"""
DETAILED: Final = record_sql(DetailedStockRecord, {**COLUMNS, "lots": LOTS, "serials": SERIALS})


def after(tx: Transaction, query: StockCursorQuery, position: int) -> CursorPage:
    if query.detail == "lots":
        return DETAILED_LISTING.after(tx, DETAILED, query, position, query.filters())
    return LISTING.after(tx, RECORD, query, position, query.filters())


OF_ARTICLES: Final = f"""
    SELECT group_concat(record, ',') FROM (
        SELECT {{record}} AS record, row_number() OVER (PARTITION BY stock.article_id ORDER BY stock.id) AS place
        FROM {SOURCE} WHERE stock.article_id IN (SELECT value FROM json_each(:ids))
    ) WHERE place <= :most
"""


def find_of_articles(tx: Transaction, query: StockOfArticlesQuery) -> Records:
    is_detailed = query.detail == "lots"
    sql = OF_ARTICLES.format(record=DETAILED if is_detailed else RECORD)
    return in_parts(
        query.ids,
        FEW_AT_ONCE if is_detailed else MANY_AT_ONCE,
        lambda some: tx.value(sql, {"ids": ids_json(some), "most": query.most}),
    )


ALL: Final = f"SELECT {RECORD} FROM {SOURCE} ORDER BY stock.id"


def every(tx: Transaction) -> Iterator[str]:
    """Yield every stock record as JSON text, for exports."""
    return (row[0] for row in tx.execute(ALL))


FIND: Final = "SELECT id FROM stock WHERE article_id = ? AND warehouse_id = ?"
OPEN: Final = """
    INSERT INTO stock (article_id, warehouse_id, change_seq, created_at, updated_at)
    VALUES (:article_id, :warehouse_id, :change_seq, :created_at, :updated_at)
"""


OPENED_AT: Final = updated_at_sql(":first + key")
OPEN_MANY: Final = f"""
    INSERT INTO stock (article_id, warehouse_id, change_seq, created_at, updated_at)
    SELECT value ->> 0, value ->> 1, :first + key, :now, {OPENED_AT} FROM json_each(:places)
    RETURNING article_id, warehouse_id, id
"""


def id_of(tx: Transaction, article_id: int, warehouse_id: int) -> int:
    """Return the id of the stock record of an article in a warehouse.

    Create an empty record if there is none yet.
    """
    found: int | None = tx.value(FIND, (article_id, warehouse_id))
    if found is not None:
        return found
    return tx.insert(OPEN, {"article_id": article_id, "warehouse_id": warehouse_id, **creation_columns(tx)})


class Place(NamedTuple):
    article_id: int
    warehouse_id: int


def ids_of(tx: Transaction, places: Sequence[Place]) -> dict[Place, int]:
    """Return the id of the stock record for each place (article and warehouse). If a place has no record, create
    an empty one.
    """
    known = {place: stock_id for place, (stock_id, _) in available_at(tx, places).items()}
    missing = [place for place in places if place not in known]
    if missing:
        first = tx.next_changes(len(missing))[0]
        opened = tx.rows(OPEN_MANY, {"places": dumps(missing), "first": first, "now": tx.timestamp})
        known |= {Place(*place): stock_id for *place, stock_id in opened}
    return known


def ids_in(tx: Transaction, warehouse_id: int, article_ids: Iterable[int]) -> dict[int, int]:
    """Return the ids of the articles' stock records in one warehouse, by article. If an article has no record,
    create an empty one.
    """
    found = ids_of(tx, [Place(article_id, warehouse_id) for article_id in sorted(set(article_ids))])
    return {article_id: stock_id for (article_id, _), stock_id in found.items()}


def balance(tx: Transaction, stock_id: int) -> dict[str, Any]:
    """Return the `quantity`, `reserved` and `quarantined` of the stock record, in millionths."""
    found = tx.record("SELECT quantity, reserved, quarantined FROM stock WHERE id = ?", (stock_id,))
    assert found is not None, stock_id
    return found


ADD_TO_BALANCE: Final = """
    UPDATE stock SET quantity = quantity + ?, quarantined = quarantined + ?, change_seq = ?, updated_at = ?
    WHERE id = ?
"""
ADD_TO_LEDGER: Final = """
    INSERT INTO stock_movements (stock_id, quantity, kind, quarantined, destroyed, lot_number, serial, document_id,
        document_line_id, reason, actor, occurred_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def add_to_ledger(tx: Transaction, movements: Iterable[tuple[object, ...]]) -> None:
    """Insert movements. Each movement has the values of the columns from `stock_id` to `reason`, in the order of
    the statement.
    """
    same = (tx.actor.name, tx.timestamp)
    tx.executemany(ADD_TO_LEDGER, [(*movement, *same) for movement in movements])


def add_to_balances(tx: Transaction, sums: Mapping[int, tuple[int, int]]) -> None:
    """Add the quantities in `sums` to the balances. `sums` has (quantity, quarantined) in millionths, by the id of
    the stock record.

    Only the ledger calls this function, together with `add_to_ledger`.
    """
    moments = each_changed(tx, len(sums))
    tx.executemany(
        ADD_TO_BALANCE,
        [(*amounts, *moment, stock_id) for (stock_id, amounts), moment in zip(sums.items(), moments, strict=True)],
    )


QUANTITIES: Final = "SELECT id, quantity FROM stock WHERE id IN (SELECT value FROM json_each(?))"


def quantities(tx: Transaction, stock_ids: Iterable[int]) -> dict[int, int]:
    """Return the quantity of each stock record, in millionths."""
    return dict(tx.rows(QUANTITIES, (ids_json(stock_ids),)))


def place_of(tx: Transaction, stock_id: int) -> Place:
    """Return the article and the warehouse of the stock record. Raise Problem (404) if no such record exists."""
    found = tx.row("SELECT article_id, warehouse_id FROM stock WHERE id = ?", (stock_id,))
    return Place(*or_not_found(found, "stock record"))


AVAILABLE: Final = """
    SELECT id, quantity - reserved - quarantined FROM stock WHERE id IN (SELECT value FROM json_each(?))
"""


def available(tx: Transaction, stock_ids: Iterable[int]) -> dict[int, int]:
    """Return the available quantity of each stock record, in millionths."""
    return dict(tx.rows(AVAILABLE, (ids_json(stock_ids),)))


def ids_json(ids: Iterable[int]) -> str:
    return dumps(list(ids))


AVAILABLE_AT: Final = """
    SELECT stock.article_id, stock.warehouse_id, stock.id, quantity - reserved - quarantined
    FROM json_each(?) AS place
    CROSS JOIN stock ON stock.article_id = place.value ->> 0 AND stock.warehouse_id = place.value ->> 1
"""


def available_at(tx: Transaction, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
    """Return the stock record's id and available quantity (in millionths) for each place. A place is an article
    and a warehouse. Places without a stock record are omitted.
    """
    found = tx.rows(AVAILABLE_AT, (dumps(list(places)),))
    return {
        Place(article_id, warehouse_id): (stock_id, free) for article_id, warehouse_id, stock_id, free in found
    }


def change_reserved(tx: Transaction, changes: Mapping[int, int]) -> None:
    if changes:
        moments = each_changed(tx, len(changes))
        tx.executemany(
            "UPDATE stock SET reserved = reserved + ?, change_seq = ?, updated_at = ? WHERE id = ?",
            [
                (change, *moment, stock_id)
                for (stock_id, change), moment in zip(changes.items(), moments, strict=True)
            ],
        )


RESERVE: Final = """
    INSERT INTO reservations (holder_kind, holder_id, stock_id, quantity) VALUES (?, ?, ?, ?)
    ON CONFLICT (holder_kind, holder_id, stock_id) DO UPDATE SET quantity = excluded.quantity
"""
RELEASE: Final = "DELETE FROM reservations WHERE holder_kind = ? AND holder_id = ? AND stock_id = ?"


def write_reservations(tx: Transaction, rows: Sequence[tuple[str, int, int, int]]) -> None:
    """Write the reservations of documents. If the new quantity is 0, the reservation is deleted.

    Each row has the kind and the id of the document, the id of the stock record, and the new quantity in
    millionths.
    """
    tx.executemany(RESERVE, [row for row in rows if row[-1]])
    tx.executemany(RELEASE, [row[:-1] for row in rows if not row[-1]])


UPDATED: Final = f"""
    SELECT stock.id AS entity_id, {record_sql(StockUpdated, COLUMNS)} AS data
    FROM json_each(:ids) AS changed CROSS JOIN stock ON stock.id = changed.value {NAMED}
"""
"""Selects the data of the event `stock.updated` for each stock record of `:ids`, in their order."""


def min_stock(tx: Transaction) -> int | None:
    """Return the company's minimum stock, in millionths. It applies to articles without their own `min_stock`.
    Return None if the company has no minimum stock.
    """
    return tx.find_number("SELECT value FROM stock_rules WHERE name = 'min_stock'")


def set_min_stock(tx: Transaction, amount: int | None) -> None:
    if amount is None:
        tx.execute("DELETE FROM stock_rules WHERE name = 'min_stock'")
    else:
        tx.execute("INSERT OR REPLACE INTO stock_rules (name, value) VALUES ('min_stock', ?)", (amount,))
