"""Why a quantity is what it is: what the last stock count found, and what has moved since.

A past moment is a place in the ledger: the last movement with the time of the moment or an earlier one. So it is a
state that there was, even where the clock was set back. Everything is reckoned back from the balance, over the
movements since; what lies before the count is not read. A million movements of one balance take two seconds.
"""

from datetime import timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.contract.results import Text
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import LastCount, StockExplanation, StockGroup, StockLevel
from wmsd.warehouse.stock.store import COLUMNS, SOURCE

CHARTED: Final = timedelta(weeks=4)
"""How far back a chart goes at least, if the stock record is as old."""
MOST_LEVELS: Final = 120

LEDGER: Final = "stock_movements INDEXED BY stock_movements_by_stock"
STRETCH: Final = f"{LEDGER} WHERE stock_id = :id AND id > :after AND id <= :until"


class Stretch(NamedTuple):
    """Movements of a stock record: those after one id, up to another."""

    id: int
    after: int
    until: int


def explain(tx: Transaction, stock_id: int, at: str | None) -> Text | None:
    """The explanation at a moment, or now; None when there is no such stock record."""
    stock = tx.record("SELECT quantity, quarantined, created_at FROM stock WHERE id = ?", (stock_id,))
    if stock is None:
        return None
    last = _last(tx, stock_id) if at is None else _last_at(tx, stock_id, at)
    later = _moved(tx, Stretch(stock_id, last, _last(tx, stock_id)))
    quantity = stock["quantity"] - later.quantity
    count = _count(tx, stock_id, last)
    since_count = Stretch(stock_id, 0 if count is None else count.id, last)
    groups, moved = _groups(tx, since_count)
    moment = tx.timestamp if at is None else at
    begins_at, begins_after = _chart_begins(tx, stock_id, moment, stock["created_at"], count)
    charted = Stretch(stock_id, begins_after, last)
    shown = {
        **since_count._asdict(),
        "at": moment,
        "now": tx.timestamp,
        "is_now": at is None,
        "quantity": quantity,
        "quarantined": stock["quarantined"] - later.quarantined,
        "begins_with": quantity - moved,
        "count": None if count is None else count.json,
        "groups": groups,
        "levels": _levels(tx, charted, begins_at, quantity),
    }
    return Text(tx.value(EXPLANATION, shown))


LAST: Final = f"SELECT id FROM {LEDGER} WHERE stock_id = :id ORDER BY id DESC LIMIT 1"
LAST_AT: Final = f"SELECT id FROM {LEDGER} WHERE stock_id = :id AND occurred_at <= :at ORDER BY id DESC LIMIT 1"


def _last(tx: Transaction, stock_id: int) -> int:
    """The id of the last movement; 0 when there is none."""
    return tx.value(LAST, {"id": stock_id}) or 0


def _last_at(tx: Transaction, stock_id: int, at: str) -> int:
    """The id of the last movement at the moment; 0 when there was none yet."""
    return tx.value(LAST_AT, {"id": stock_id, "at": at}) or 0


MOVED: Final = f"SELECT coalesce(sum(quantity), 0), coalesce(sum(quarantined), 0) FROM {STRETCH}"


class Moved(NamedTuple):
    """Millionths."""

    quantity: int
    quarantined: int


def _moved(tx: Transaction, stretch: Stretch) -> Moved:
    (moved,) = tx.rows(MOVED, stretch._asdict())
    return Moved(*moved)


def _same(column: str) -> str:
    """The column's value if all rows have the same."""
    return f"iif(count({column}) = count(*) AND min({column}) = max({column}), min({column}), NULL)"


LAST_COUNT: Final = f"""
    SELECT id, occurred_at FROM {LEDGER}
    WHERE stock_id = :id AND id <= :until AND kind = 'count' ORDER BY id DESC LIMIT 1
"""
BEFORE_COUNT: Final = f"""
    SELECT id FROM {LEDGER}
    WHERE stock_id = :id AND id < :until AND NOT (kind = 'count' AND occurred_at = :at) ORDER BY id DESC LIMIT 1
"""
COUNT: Final = f"""
    SELECT {record_sql(LastCount, {"at": ":at"})}
    FROM (
        SELECT sum(quantity) AS difference, {_same("document_id")} AS document_id,
            {_same("reason")} AS reason, {_same("actor")} AS actor
        FROM {STRETCH}
    )
"""


class Count(NamedTuple):
    """`id` is that of its last movement, `at` its moment."""

    id: int
    at: str
    json: str


def _count(tx: Transaction, stock_id: int, until: int) -> Count | None:
    """The last stock count. It has a movement for each lot and serial that it changed, all of one moment."""
    found = tx.row(LAST_COUNT, {"id": stock_id, "until": until})
    if found is None:
        return None
    last, at = found
    before = tx.value(BEFORE_COUNT, {"id": stock_id, "until": last, "at": at}) or 0
    return Count(last, at, tx.value(COUNT, {**Stretch(stock_id, before, last)._asdict(), "at": at}))


DOCUMENTS_OF: Final = """
    CASE documents WHEN 0 THEN '[]' WHEN 1 THEN json_array(first_document)
    WHEN 2 THEN json_array(first_document, last_document) ELSE '[]' END
"""
GROUPS: Final = f"""
    SELECT json_group_array({record_sql(StockGroup, {"document_ids": DOCUMENTS_OF})} ORDER BY first_id),
        coalesce(sum(quantity), 0)
    FROM (
        SELECT kind, sum(quantity) AS quantity, sum(quarantined) AS quarantined, sum(destroyed) AS destroyed,
            count(*) AS movements, min(id) AS first_id,
            count(DISTINCT document_id) AS documents,
            min(document_id) AS first_document, max(document_id) AS last_document,
            min(occurred_at) AS first_at, max(occurred_at) AS last_at,
            {_same("lot_number")} AS lot_number, {_same("reason")} AS reason, {_same("actor")} AS actor
        FROM {STRETCH} GROUP BY kind
    )
"""


def _groups(tx: Transaction, stretch: Stretch) -> tuple[str, int]:
    """The groups as JSON, in the order in which they began, and the sum of their quantities."""
    ((groups, quantity),) = tx.rows(GROUPS, stretch._asdict())
    return groups, quantity


ARE_FEW: Final = f"SELECT count(*) <= {MOST_LEVELS} FROM (SELECT 1 FROM {STRETCH} LIMIT {MOST_LEVELS + 1})"
LEVELS: Final = f"""
    SELECT json_group_array({record_sql(StockLevel)} ORDER BY last_id)
    FROM (
        SELECT at, last_id, :quantity - (sum(moved) OVER (ORDER BY last_id DESC) - moved) AS quantity
        FROM (
            SELECT :begins_at AS at, 0 AS last_id, 0 AS moved
            UNION ALL SELECT occurred_at, max(id), sum(quantity) FROM {STRETCH} GROUP BY (id - :after - 1) / :width
        )
    )
"""
"""Of each part of the stretch its last movement, with what the quantity was after it."""


def _chart_begins(
    tx: Transaction, stock_id: int, moment: str, created_at: str, count: Count | None
) -> tuple[str, int]:
    """When a chart begins, and after which movement: with what the explanation begins with, or four weeks before
    the moment if that is earlier; never before the stock record was created.
    """
    if count is None or moment <= created_at:
        return min(moment, created_at), 0
    weeks_before = timestamps.to_text(timestamps.from_text(moment) - CHARTED)
    begins_at = max(created_at, min(count.at, weeks_before))
    if begins_at == created_at:
        return created_at, 0
    return begins_at, count.id if begins_at == count.at else _last_at(tx, stock_id, begins_at)


def _levels(tx: Transaction, stretch: Stretch, begins_at: str, quantity: int) -> str:
    """The quantity over time, as JSON: after each movement, or of many movements after some of them. It ends with
    `quantity`, in millionths.
    """
    given = stretch._asdict()
    length = stretch.until - stretch.after
    width = 1 if tx.value(ARE_FEW, given) else -(-length // MOST_LEVELS)
    return tx.text(LEVELS, {**given, "begins_at": begins_at, "quantity": quantity, "width": width})


def _now(column: str) -> str:
    return f"iif(:is_now, {column}, NULL)"


EXPLANATION: Final = f"""
    SELECT {
    record_sql(
        StockExplanation,
        {
            **COLUMNS,
            **{name: f":{name}" for name in ("at", "now", "quantity", "quarantined", "begins_with")},
            **{name: f":{name}" for name in ("count", "groups", "levels", "after", "until")},
            "reserved": _now("stock.reserved"),
            "available": _now(COLUMNS["available"]),
            "holders": _now("(SELECT count(*) FROM reservations WHERE stock_id = stock.id)"),
            "unit": "articles.unit",
            "warehouse_name": "warehouses.name",
        },
    )
}
    FROM {SOURCE} WHERE stock.id = :id
"""
