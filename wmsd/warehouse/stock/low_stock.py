"""The SQL of low stock: what fell to its min_stock or below, and what has recovered."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import StockLow
from wmsd.warehouse.stock.stock_staging import STOCK_ID as STAGED_ID
from wmsd.warehouse.stock.store import COLUMNS, NAMED, OWN_OR_RULE


def _crossings_sql(told: str, before: str, own_min_stock: str) -> str:
    """`told` joins stock with rows that tell what was available `before`, and the article's `own_min_stock`."""
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
    """A stock record that became low, or is low no longer; amounts are millionths."""

    stock_id: int
    available: int
    available_before: int
    is_low: int


def crossings(tx: Transaction, available_before: Mapping[int, int]) -> list[Crossing]:
    """The stock records that became low, or are low no longer. What is noted as low may be so by a rule that was
    changed since; so what has fallen to or below the present min_stock, from above it, becomes low again.
    """
    given = dumps([list(each) for each in available_before.items()])
    return [Crossing(*each) for each in tx.rows(CROSSINGS, (given,))]


def crossings_staged(tx: Transaction, last_id: int) -> list[Crossing]:
    """The same among those that a count in a file has changed."""
    return [Crossing(*each) for each in tx.rows(STAGED_CROSSINGS, {"last_id": last_id})]


LOW: Final = f"""
    SELECT stock.id AS entity_id, {record_sql(StockLow, COLUMNS)} AS data
    FROM json_each(:ids) AS told CROSS JOIN stock ON stock.id = told.value {NAMED}
"""
"""A row for each stock record of `ids`, in their order: the data of `stock.low`."""
MARK_TOLD: Final = "UPDATE stock SET is_told_low = ? WHERE id = ?"


def mark_reported(tx: Transaction, stock_ids: Iterable[int], is_told_low: bool) -> None:
    """Notes of which stock records it was told last that they are low, or that they are no longer."""
    tx.executemany(MARK_TOLD, [(int(is_told_low), stock_id) for stock_id in stock_ids])
