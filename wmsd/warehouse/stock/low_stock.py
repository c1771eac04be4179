"""The SQL of low stock: stock records that fell to their minimum stock or below, and those that have recovered."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import StockLow
from wmsd.warehouse.stock.stock_staging import STOCK_ID as STAGED_ID
from wmsd.warehouse.stock.store import COLUMNS, NAMED, OWN_OR_RULE


def _crossings_sql(told: str, before: str, own_min_stock: str) -> str:
    """Return the SQL of the stock records that became low, or are low no longer.

    `told` is SQL that joins `stock` with the stock records that have changed. `before` is the SQL of the available
    quantity before the change, and `own_min_stock` is the SQL of the article's `min_stock`.
    """
    available, min_stock = COLUMNS["available"], OWN_OR_RULE.format(own=own_min_stock)
    is_low = f"coalesce({available} <= {min_stock}, 0)"
    return f"""
        SELECT stock.id, {available}, {before}, {is_low} FROM {told}
        (stock.is_told_low <> {is_low} OR ({is_low} AND {before} > {min_stock}))
    """


CROSSINGS: Final = _crossings_sql(
    """
        json_each(?) AS told
        CROSS JOIN stock ON stock.id = told.value ->> 0
        CROSS JOIN articles ON articles.id = stock.article_id
        WHERE
    """,
    "told.value ->> 1",
    "articles.min_stock",
)
STAGED_CROSSINGS: Final = _crossings_sql(
    f"staged_stock AS told CROSS JOIN stock ON stock.id = {STAGED_ID} WHERE moves AND",
    f"({COLUMNS['available']} - told.quantity + told.quarantined)",
    "told.min_stock",
)


class Crossing(NamedTuple):
    """A stock record that became low, or is low no longer. Amounts are in millionths."""

    stock_id: int
    available: int
    available_before: int
    is_low: int


def crossings(tx: Transaction, available_before: Mapping[int, int]) -> list[Crossing]:
    """Return the stock records that became low, or are low no longer.

    `available_before` has the available quantities before the change, by stock record. A record that falls from
    above the current minimum stock to the minimum or below is always returned, even if it is already marked as
    low: the minimum may have changed since then.
    """
    given = dumps([list(each) for each in available_before.items()])
    return [Crossing(*each) for each in tx.rows(CROSSINGS, (given,))]


def crossings_staged(tx: Transaction, last_id: int) -> list[Crossing]:
    """Return those stock records that the staged changes of an import made low, or made low no longer.

    `last_id` is the last id before the import's new stock records.
    """
    return [Crossing(*each) for each in tx.rows(STAGED_CROSSINGS, {"last_id": last_id})]


LOW: Final = f"""
    SELECT stock.id AS entity_id, {record_sql(StockLow, COLUMNS)} AS data
    FROM json_each(:ids) AS told CROSS JOIN stock ON stock.id = told.value {NAMED}
"""
"""Selects the data of the event `stock.low` for each stock record of `:ids`, in their order."""
MARK_TOLD: Final = "UPDATE stock SET is_told_low = ? WHERE id = ?"


def mark_reported(tx: Transaction, stock_ids: Iterable[int], is_told_low: bool) -> None:
    """Store whether the last event of these stock records reported them as low."""
    tx.executemany(MARK_TOLD, [(int(is_told_low), stock_id) for stock_id in stock_ids])
