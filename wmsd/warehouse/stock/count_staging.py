"""The SQL that stores the stock counts of a file in temporary tables.

The counts are not kept in memory. So a long file needs no more memory than a short one. A place is an article in a
warehouse. The places have the numbers 1, 2 and so on, in the order of the file (see `stock_staging.py`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.contract.bulk_imports import CHUNK
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock.parts import PartKey
from wmsd.warehouse.stock.rules import Counted
from wmsd.warehouse.stock.store import Place

TABLES: Final = (
    """
    CREATE TABLE {schema}.staged_places (
        place INTEGER PRIMARY KEY, article_id, warehouse_id, article_code, warehouse_code, tracks_serials,
        is_faulty, rows, is_planned DEFAULT FALSE, UNIQUE (article_id, warehouse_id)
    )
    """,
    """
    CREATE TABLE {schema}.staged_counts (
        line INTEGER PRIMARY KEY, article_id, warehouse_id, lot_number, serial, quantity, quarantined, reason
    )
    """,
    """
    CREATE UNIQUE INDEX {schema}.staged_counts_by_goods
    ON staged_counts (article_id, warehouse_id, ifnull(lot_number, 0), ifnull(serial, 0))
    """,
    """
    CREATE TABLE {schema}.staged_serials_counted (article_code, serial, line, PRIMARY KEY (article_code, serial))
    WITHOUT ROWID
    """,
)
"""The statements that create the temporary tables.

A row of `staged_places` is an article in a warehouse. `rows` is the number of its rows in the file. `is_faulty` is
true if one of these rows has errors.

A row of `staged_counts` is a row of the file. If the row of the file has errors, `quantity` is NULL. In the index,
0 stands for no lot or no serial, because NULL is never equal to NULL.
"""


def empty(tx: Transaction) -> None:
    for table in ("staged_places", "staged_counts", "staged_serials_counted"):
        tx.execute(f"DELETE FROM {table}")


PUT: Final = """
    INSERT INTO staged_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (article_id, warehouse_id, ifnull(lot_number, 0), ifnull(serial, 0)) DO UPDATE SET line = line
    RETURNING line
"""
PUT_SERIAL: Final = """
    INSERT INTO staged_serials_counted VALUES (?, ?, ?)
    ON CONFLICT (article_code, serial) DO UPDATE SET line = line RETURNING line
"""


def put(
    tx: Transaction, line: int, place: Place, goods: PartKey, counted: Counted | None, reason: str | None
) -> int:
    """Store the count of the row `line`, and return `line`. `counted` is None if the row has errors.

    If an earlier row has counted the same goods in the warehouse, store nothing, and return the number of that
    row.
    """
    amounts = (None, None) if counted is None else (counted.quantity, counted.quarantined)
    return tx.number(PUT, (line, *place, *goods, *amounts, reason))


def put_serial(tx: Transaction, article_code: str, serial: str, line: int) -> int:
    """Record that the row `line` has counted the serial, and return `line`. If an earlier row has counted the
    serial in any warehouse, return the number of that row.
    """
    return tx.number(PUT_SERIAL, (article_code, serial, line))


class PlaceOfRow(NamedTuple):
    article_id: int
    warehouse_id: int
    article_code: str
    warehouse_code: str
    tracks_serials: bool
    is_faulty: bool = False


PUT_PLACE: Final = """
    INSERT INTO staged_places
        (article_id, warehouse_id, article_code, warehouse_code, tracks_serials, is_faulty, rows)
    VALUES (?, ?, ?, ?, ?, ?, 1)
    ON CONFLICT (article_id, warehouse_id)
    DO UPDATE SET is_faulty = max(is_faulty, excluded.is_faulty), rows = rows + 1
"""


def put_places(tx: Transaction, places: Iterable[PlaceOfRow]) -> None:
    """Store the article and the warehouse of each row, in the order of the file."""
    tx.executemany(PUT_PLACE, places)


PUT_MISSING: Final = """
    INSERT OR IGNORE INTO staged_places
        (article_id, warehouse_id, article_code, warehouse_code, tracks_serials, is_faulty, rows)
    SELECT stock.article_id, stock.warehouse_id, articles.code, :names ->> ('$.' || stock.warehouse_id),
        articles.track_serial, FALSE, 0
    FROM stock CROSS JOIN articles ON articles.id = stock.article_id
    WHERE stock.warehouse_id IN (SELECT value FROM json_each(:ids)) AND stock.quantity > 0 ORDER BY stock.id
"""


def put_missing(tx: Transaction) -> None:
    """If an article has stock in a warehouse of the file, but no row for this warehouse, add a place without
    counts.

    A missing row means that the goods were not found: the stock of the article in this warehouse becomes 0.
    """
    names: dict[int, str] = dict(tx.rows("SELECT DISTINCT warehouse_id, warehouse_code FROM staged_places"))
    by_id = {str(warehouse_id): code for warehouse_id, code in names.items()}
    tx.execute(PUT_MISSING, {"names": dumps(by_id), "ids": dumps(list(names))})


CONCERNED: Final = """
    SELECT 1 FROM articles WHERE change_seq > ? AND (
        +id IN (SELECT article_id FROM staged_places) OR +code IN (SELECT article_code FROM staged_places)
    ) LIMIT 1
"""
"""The SQL that finds a changed article of the file.

The plus signs stop SQLite from using the indexes on `id` and `code`. So SQLite starts with the changed articles,
of which there are usually none. The query must be fast, because other writers wait until it ends.
"""


def are_concerned_since(tx: Transaction, change: int) -> bool:
    """Return True if an article of the file was changed after the number `change` of the change sequence."""
    return tx.value(CONCERNED, (change,)) is not None


CHANGED: Final = "SELECT article_id, warehouse_id FROM stock WHERE change_seq > ?"
FORGET_PLAN: Final = "UPDATE staged_places SET is_planned = FALSE WHERE article_id = ? AND warehouse_id = ?"
FORGET_PLANS: Final = (
    "UPDATE staged_places SET is_planned = FALSE WHERE article_id IN (SELECT value FROM json_each(?))"
)
WITH_SERIALS: Final = "SELECT DISTINCT article_id FROM staged_places WHERE tracks_serials"


def forget_plans_of_changed(tx: Transaction, change: int) -> None:
    """Discard the planned changes of places whose stock was changed after the number `change` of the change
    sequence.
    """
    tx.executemany(FORGET_PLAN, tx.execute(CHANGED, (change,)))


def forget_plans_of(tx: Transaction, article_ids: Iterable[int]) -> None:
    tx.execute(FORGET_PLANS, (dumps(list(article_ids)),))


def articles_with_serials(tx: Transaction) -> set[int]:
    return {article_id for (article_id,) in tx.execute(WITH_SERIALS)}


class StagedPlace(NamedTuple):
    number: int
    article_id: int
    warehouse_id: int
    article_code: str
    warehouse_code: str
    tracks_serials: bool
    is_faulty: bool
    rows: int


class StagedCount(NamedTuple):
    number: int
    """The number of the place."""
    line: int
    counted: Counted
    reason: str | None


TO_PLAN: Final = """
    SELECT place, article_id, warehouse_id, article_code, warehouse_code, tracks_serials, is_faulty, rows
    FROM staged_places WHERE NOT is_planned AND place > ? ORDER BY place LIMIT ?
"""
COUNTS: Final = """
    SELECT place, line, lot_number, serial, quantity, quarantined, reason
    FROM staged_places CROSS JOIN staged_counts USING (article_id, warehouse_id)
    WHERE NOT is_planned AND place >= ? AND place <= ? AND quantity IS NOT NULL ORDER BY line
"""
NOTE_PLANNED: Final = (
    "UPDATE staged_places SET is_planned = TRUE WHERE NOT is_planned AND place >= ? AND place <= ?"
)


def to_plan(tx: Transaction) -> Iterator[tuple[Sequence[StagedPlace], Mapping[int, list[StagedCount]]]]:
    """Yield the places whose changes are not planned yet. They come in batches, in the order of the file. Each
    batch is a list of places, and a dict with their counts by the number of the place.

    When the caller requests the next batch, the places of the previous batch are marked as planned.
    """
    after = 0
    while places := _few(StagedPlace(*row) for row in tx.rows(TO_PLAN, (after, CHUNK))):
        piece = (places[0].number, after := places[-1].number)
        counts: dict[int, list[StagedCount]] = {place.number: [] for place in places}
        for number, line, lot_number, serial, *amounts, reason in tx.rows(COUNTS, piece):
            counted = Counted(PartKey(lot_number, serial), *amounts)
            counts[number].append(StagedCount(number, line, counted, reason))
        yield places, counts
        tx.execute(NOTE_PLANNED, piece)


def _few(places: Iterable[StagedPlace]) -> list[StagedPlace]:
    """Return the first places, as many as fit in memory with their rows. Return at least one place."""
    rows = 0

    def fits(place: StagedPlace) -> bool:
        nonlocal rows
        rows, before = rows + place.rows, rows
        return not before or rows <= CHUNK

    return [*takewhile(fits, places)]


def count(tx: Transaction) -> int:
    """Return the number of counts in the file."""
    return tx.number("SELECT count(*) FROM staged_counts")
