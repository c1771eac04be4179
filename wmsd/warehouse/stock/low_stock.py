"""The SQL that finds stock records whose stock became low, or is no longer low. Stock is low if the available
quantity is at or below the minimum.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import StockLow
from wmsd.warehouse.stock.stock_staging import STOCK_ID as STAGED_ID
from wmsd.warehouse.stock.store import COLUMNS, NAMED, OWN_OR_RULE


def _low_stock_changes_sql(changed: str, before: str, own_min_stock: str) -> str:
    """Return the SQL that finds the stock records whose stock became low, or is no longer low.

    `changed` is SQL that joins `stock` with the changed stock records. `before` is the SQL of the available
    quantity before the change. `own_min_stock` is the SQL of the article's `min_stock`.
    """
    available, min_stock = COLUMNS["available"], OWN_OR_RULE.format(own=own_min_stock)
    is_low = f"coalesce({available} <= {min_stock}, 0)"
    return f"""
        SELECT stock.id, {available}, {before}, {is_low} FROM {changed}
        (stock.is_told_low <> {is_low} OR ({is_low} AND {before} > {min_stock}))
    """


CHANGES_OF_LOW_STOCK: Final = _low_stock_changes_sql(
    """
        json_each(?) AS changed
        CROSS JOIN stock ON stock.id = changed.value ->> 0
        CROSS JOIN articles ON articles.id = stock.article_id
        WHERE
    """,
    "changed.value ->> 1",
    "articles.min_stock",
)
STAGED_CHANGES_OF_LOW_STOCK: Final = _low_stock_changes_sql(
    f"staged_stock AS changed CROSS JOIN stock ON stock.id = {STAGED_ID} WHERE moves AND",
    f"({COLUMNS['available']} - changed.quantity + changed.quarantined)",
    "changed.min_stock",
)


class LowStockChange(NamedTuple):
    """A stock record whose stock became low, or is no longer low. Quantities are in millionths."""

    stock_id: int
    available: int
    available_before: int
    is_low: int


def low_stock_changes(tx: Transaction, available_before: Mapping[int, int]) -> list[LowStockChange]:
    """Return the stock records whose stock became low, or is no longer low.

    `available_before` has the available quantities before the change in millionths, by the id of the stock record.
    A record that is already marked as low is returned too, if its available quantity has fallen from above the
    minimum to the minimum or below. This happens after a change of the minimum.
    """
    given = dumps([list(each) for each in available_before.items()])
    return [LowStockChange(*each) for each in tx.rows(CHANGES_OF_LOW_STOCK, (given,))]


def crossings_staged(tx: Transaction, last_id: int) -> list[LowStockChange]:
    """Return the stock records whose stock became low, or is no longer low, through the staged changes of an
    import.

    `last_id` is the last id of a stock record before the import created new records.
    """
    return [LowStockChange(*each) for each in tx.rows(STAGED_CHANGES_OF_LOW_STOCK, {"last_id": last_id})]


LOW: Final = f"""
    SELECT stock.id AS entity_id, {record_sql(StockLow, COLUMNS)} AS data
    FROM json_each(:ids) AS changed CROSS JOIN stock ON stock.id = changed.value {NAMED}
"""
"""Selects the data of the event `stock.low` for each stock record of `:ids`, in their order."""
MARK_REPORTED: Final = "UPDATE stock SET is_told_low = ? WHERE id = ?"


def mark_reported(tx: Transaction, stock_ids: Iterable[int], is_reported_low: bool) -> None:
    """Store whether the last event about each of these stock records said that its stock is low."""
    tx.executemany(MARK_REPORTED, [(int(is_reported_low), stock_id) for stock_id in stock_ids])
