"""The SQL of counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.quantity import SCALE
from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import QueryId
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.counts.rules import BEGUN, OPEN
from wmsd.warehouse.counts.schema import Count, CountFields, CountLine
from wmsd.warehouse.directory.store import WAREHOUSES
from wmsd.warehouse.documents.checks import sql_names
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.stock.parts import PartKey

IS_HIDDEN: Final = f"""(
    counts.is_blind AND counts.status IN ({sql_names(OPEN)})
    AND (line.counted_quantity IS NULL OR line.count_again)
)"""
"""The SQL condition for lines that must not show ledger quantities. These are the lines of a blind count that are
not counted yet, or must be counted again.
"""
COUNT_LINES: Final = LineTable(
    "count_lines",
    "count_id",
    ("article_id", "lot_number", "serial", "counted_quantity", "counted_at"),
    CountLine,
    columns={
        "expected_quantity": f"iif({IS_HIDDEN}, NULL, line.expected_quantity)",
        "ledger_quantity": f"iif({IS_HIDDEN}, NULL, line.ledger_quantity)",
        "difference": f"iif({IS_HIDDEN}, NULL, line.counted_quantity - line.ledger_quantity)",
    },
    filled=(
        *("expected_quantity", "arrived_at", "ledger_quantity"),
        *("last_movement", "count_again", "booked_quantity"),
    ),
)
COUNTS: Final = DocumentTable(
    noun="count",
    series="CT",
    body=CountFields,
    shown=Count,
    lines="lines",
    line_table=COUNT_LINES,
    references={"warehouse": WAREHOUSES},
    filters={"warehouse_id": QueryId},
    payload=("warehouse_id",),
    tells_changed_lines=True,
)

LAST_MOVEMENT: Final = "SELECT coalesce(max(id), 0) FROM stock_movements"


def last_movement(tx: Transaction) -> int:
    """Return the id of the last movement in the ledger, or 0 if the ledger is empty."""
    return tx.number(LAST_MOVEMENT)


class Seen(NamedTuple):
    """The goods of a count line, and when the counting person last saw them. `at` is the time when the person saw
    them. If `at` is None, the person saw them directly after the movement with the id `until`.
    """

    stock_id: int
    lot_number: str | None
    serial: str | None
    until: int
    at: str | None = None


NEWEST: Final = """coalesce((
    SELECT id FROM stock_movements INDEXED BY {index}
    WHERE lot_number {lot} seen.value ->> 1 AND serial {serial} seen.value ->> 2
        AND stock_id = seen.value ->> 0 AND (quantity > 0) - (quantity < 0) = {sign}
        AND id > iif(seen.value ->> 4 IS NULL, seen.value ->> 3, 0) AND (:kind IS NULL OR kind = :kind)
    ORDER BY id DESC LIMIT 1
), 0)"""
MOVED: Final = """
    SELECT seen.key FROM json_each(:seen) AS seen WHERE EXISTS (
        SELECT 1 FROM stock_movements WHERE id = max({risen}, {fallen})
            AND (seen.value ->> 4 IS NULL OR occurred_at >= seen.value ->> 4)
    )
"""
"""Selects the goods that have moved since the counting person last saw them. A movement in the same millisecond as
`at` also counts, because it may have happened after the person saw the goods.
"""


def _moved(index: str, lot: str, serial: str) -> str:
    risen, fallen = (NEWEST.format(index=index, lot=lot, serial=serial, sign=sign) for sign in (1, -1))
    return MOVED.format(risen=risen, fallen=fallen)


MOVED_SERIALS: Final = _moved("stock_movements_by_serial", "IS", "=")
MOVED_LOTS: Final = _moved("stock_movements_by_lot", "=", "IS")
MOVED_OTHERS: Final = _moved("stock_movements_by_stock", "IS", "IS")


def moved_since(tx: Transaction, seen: Sequence[Seen], kind: str | None = None) -> set[int]:
    """Find the goods that have moved since the counting person last saw them. Return their positions in `seen`. If
    `kind` is given, only movements of this kind count.

    The function uses an index by serial, by lot or by stock record. So it is fast even if a stock record has many
    movements.
    """
    by_sql: dict[str, list[int]] = {}
    for place, part in enumerate(seen):
        sql = MOVED_SERIALS if part.serial is not None else MOVED_OTHERS if part.lot_number is None else MOVED_LOTS
        by_sql.setdefault(sql, []).append(place)
    return {
        places[number]
        for sql, places in by_sql.items()
        for (number,) in tx.rows(sql, {"seen": dumps([seen[place] for place in places]), "kind": kind})
    }


CHOSEN: Final = """
    stock CROSS JOIN articles ON articles.id = stock.article_id
    WHERE stock.warehouse_id = :warehouse_id AND stock.quantity > 0 AND (
        :search IS NULL OR articles.id IN (SELECT rowid FROM article_search WHERE article_search MATCH :search)
    )
"""
MOST_LISTED: Final = 100_000
"""The maximum number of stock records that `number_of_records` counts. It stops at this number, because SQLite
must count the records one by one.
"""
RECORDS: Final = f"SELECT count(*) FROM (SELECT 1 FROM {CHOSEN} LIMIT {MOST_LISTED})"
SERIALS_OF_LOT: Final = f"""
    {SCALE} * (
        SELECT count(*) FROM stock_serials AS of_lot
        WHERE of_lot.stock_id = lot.stock_id AND of_lot.lot_number = lot.lot_number
    )
"""
NAMED: Final = f"""
    coalesce((SELECT sum(quantity) FROM stock_lots WHERE stock_id = chosen.id), 0)
    + {SCALE} * (SELECT count(*) FROM stock_serials WHERE stock_id = chosen.id AND lot_number IS NULL)
"""
PARTS: Final = f"""
    WITH chosen AS MATERIALIZED (SELECT stock.id, stock.quantity FROM {CHOSEN})
    SELECT (SELECT count(*) FROM chosen CROSS JOIN stock_serials ON stock_serials.stock_id = chosen.id)
        + (SELECT count(*) FROM chosen CROSS JOIN stock_lots AS lot ON lot.stock_id = chosen.id
           WHERE lot.quantity > {SERIALS_OF_LOT})
        + (SELECT count(*) FROM chosen WHERE quantity > {NAMED})
"""
IN_WAREHOUSE: Final = f"SELECT stock.article_id, stock.id FROM {CHOSEN} ORDER BY articles.code"


class StockOf(NamedTuple):
    """Selects stock of a warehouse. `search` is an FTS5 query for the articles, or None for all articles."""

    warehouse_id: int
    search: str | None

    @classmethod
    def found_by(cls, warehouse_id: int, search: str | None) -> "StockOf | None":
        """Return a selection of the stock in a warehouse. It contains the articles that match the text `search`,
        or all articles if `search` is None. Return None if the text has no words, because then no article matches.
        """
        if search is None:
            return cls(warehouse_id, None)
        expression = articles.search_expression(search)
        return None if expression is None else cls(warehouse_id, expression)


def number_of_records(tx: Transaction, found: StockOf) -> int:
    """Return the number of selected stock records with a quantity above 0, at most `MOST_LISTED`."""
    return tx.number(RECORDS, found._asdict())


def number_of_parts(tx: Transaction, found: StockOf) -> int:
    return tx.number(PARTS, found._asdict())


def records_in(tx: Transaction, found: StockOf) -> dict[int, int]:
    """Return the id of each selected stock record, by the id of its article. The records are in the order of the
    articles' codes.
    """
    return dict(tx.rows(IN_WAREHOUSE, found._asdict()))


BOOKED: Final = "UPDATE count_lines SET booked_quantity = ? WHERE id = ?"
COUNT_AGAIN: Final = "UPDATE count_lines SET count_again = 1 WHERE id = ?"
OF_OTHERS: Final = f"""
    SELECT line.count_id, line.id FROM counts CROSS JOIN json_each(:parts) AS part
    CROSS JOIN count_lines AS line ON line.article_id = part.value ->> 0 AND line.count_id = counts.id
        AND ifnull(line.lot_number, '') = ifnull(part.value ->> 1, '')
        AND ifnull(line.serial, '') = ifnull(part.value ->> 2, '')
    WHERE counts.warehouse_id = :warehouse_id AND counts.status = '{BEGUN}' AND counts.id <> :count_id
        AND line.counted_quantity IS NOT NULL AND NOT line.count_again
    ORDER BY line.count_id, line.id
"""
"""Selects lines of other counts that have counted the same goods. The conditions on lot and serial must be
identical to the expressions in the index on count lines. Otherwise SQLite does not use this index.
"""


def note_booked(tx: Transaction, booked: Mapping[int, int]) -> None:
    """Store the booked quantities. `booked` has the quantities by the ids of the lines."""
    tx.executemany(BOOKED, [(quantity, line_id) for line_id, quantity in booked.items()])


def note_count_again(tx: Transaction, line_ids: Iterable[int]) -> None:
    tx.executemany(COUNT_AGAIN, [(line_id,) for line_id in line_ids])


def counted_elsewhere(
    tx: Transaction, count_id: int, warehouse_id: int, parts: Iterable[tuple[int, PartKey]]
) -> dict[int, list[int]]:
    """Find lines of other counts that have counted the goods in `parts`. Return the ids of these lines, by the id
    of the count.

    Only counts with status IN_LUCRU are searched. Lines that must be counted again are omitted. Each item of
    `parts` is the id of an article, and a lot or serial.
    """
    named: dict[str, Any] = {"warehouse_id": warehouse_id, "count_id": count_id}
    found: dict[int, list[int]] = {}
    wanted = dumps([(article_id, *goods) for article_id, goods in parts])
    for other, line_id in tx.rows(OF_OTHERS, {**named, "parts": wanted}):
        found.setdefault(other, []).append(line_id)
    return found
