"""The explanation of a quantity: the result of the last stock count, and the movements since that count.

A time in the past is converted to a position in the ledger: the last movement at or before this time. Therefore
every explained quantity really existed, even if the clock was set back. A past quantity is the current balance
minus the movements after this position. Movements before the count are not read. The explanation of a balance with
a million movements takes two seconds.
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
"""The minimum period that a chart shows. If the stock record is newer, the chart begins at its creation."""
MOST_LEVELS: Final = 120

LEDGER: Final = "stock_movements INDEXED BY stock_movements_by_stock"
STRETCH: Final = f"{LEDGER} WHERE stock_id = :id AND id > :after AND id <= :until"


class Stretch(NamedTuple):
    """The movements of the stock record `id` whose ids are greater than `after` and at most `until`."""

    id: int
    after: int
    until: int


def explain(tx: Transaction, stock_id: int, at: str | None) -> Text | None:
    """Return the explanation of the quantity at the time `at`, or now if `at` is None. Return None if there is no
    such stock record.
    """
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
    """Return the id of the last movement, or 0 if there is none."""
    return tx.value(LAST, {"id": stock_id}) or 0


def _last_at(tx: Transaction, stock_id: int, at: str) -> int:
    """Return the id of the last movement at or before the time `at`, or 0 if there is none."""
    return tx.value(LAST_AT, {"id": stock_id, "at": at}) or 0


MOVED: Final = f"SELECT coalesce(sum(quantity), 0), coalesce(sum(quarantined), 0) FROM {STRETCH}"


class Moved(NamedTuple):
    """The total quantity and the total quarantined quantity of some movements, in millionths."""

    quantity: int
    quarantined: int


def _moved(tx: Transaction, stretch: Stretch) -> Moved:
    (moved,) = tx.rows(MOVED, stretch._asdict())
    return Moved(*moved)


def _same(column: str) -> str:
    """Return the SQL for a value that all rows share in the column. The SQL gives NULL if the rows have different
    values.
    """
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
    """A stock count. `id` is the id of its last movement, and `at` is its time."""

    id: int
    at: str
    json: str


def _count(tx: Transaction, stock_id: int, until: int) -> Count | None:
    """Return the last stock count whose movements are at or before the movement `until`, or None.

    A count has a movement for each lot and serial that it changed. All these movements have the same time.
    """
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
    """Return two values. The first is JSON: the movements grouped by kind, in the order of the first movement of
    each group. The second is the sum of the quantities of all movements, in millionths.
    """
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
"""Divides the movements into sections of `:width` ids. For each section, selects its last movement, and the
quantity in stock after this movement.
"""


def _chart_begins(
    tx: Transaction, stock_id: int, moment: str, created_at: str, count: Count | None
) -> tuple[str, int]:
    """Return the time at which a chart begins, and the id of the last movement at or before this time. The id is 0
    if there is no such movement, or if the chart begins at the creation of the stock record or earlier.

    The chart begins four weeks before `moment`, or at the time of the count if the count is earlier. Without a
    count, it begins at the creation of the stock record. The chart never begins before the creation of the record,
    with one exception: if `moment` is before the creation, the chart begins at `moment`.
    """
    if count is None or moment <= created_at:
        return min(moment, created_at), 0
    weeks_before = timestamps.to_text(timestamps.from_text(moment) - CHARTED)
    begins_at = max(created_at, min(count.at, weeks_before))
    if begins_at == created_at:
        return created_at, 0
    return begins_at, count.id if begins_at == count.at else _last_at(tx, stock_id, begins_at)


def _levels(tx: Transaction, stretch: Stretch, begins_at: str, quantity: int) -> str:
    """Return the quantities over time as JSON: the quantity after each movement. If there are many movements,
    return the quantity after some of them only.

    `quantity` is the quantity after the last movement, in millionths.
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
