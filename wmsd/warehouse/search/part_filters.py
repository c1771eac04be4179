"""The search for records of a kind by a part of one field. The filters of lists use it.

Candidates come from the search index and from changes that are not in the index yet. A candidate is found if the
current value of its field contains the part.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.search.index_damage import is_index_damage
from wmsd.warehouse.search.search_kinds import SearchKind
from wmsd.warehouse.search.search_store import progress
from wmsd.warehouse.search.search_text import (
    END,
    SHORTEST_PART,
    Wanted,
    beginning_of_first,
    ending_of,
    fold,
    kind_term,
    phrase,
)

MOST_FOUND: Final = 5000
"""The maximum number of records from the index that are checked. The newest ones are checked."""
MOST_PENDING: Final = 1000
INDEXED: Final = f"""
    SELECT {{table}}.id, {{table}}.{{field}} FROM search_index
    CROSS JOIN search_entries ON number = search_index.rowid
    CROSS JOIN {{table}} ON {{table}}.id = search_entries.key
    WHERE search_index MATCH ? ORDER BY search_index.rowid DESC LIMIT {MOST_FOUND + 1}
"""
PENDING: Final = f"""
    SELECT id, {{field}} FROM {{table}} WHERE change_seq > ? ORDER BY change_seq DESC LIMIT {MOST_PENDING + 1}
"""
BEGINNINGS: Final = f"""
    SELECT id, {{field}} FROM {{table}} WHERE {{field}} GLOB :small OR {{field}} GLOB :large LIMIT {MOST_FOUND + 1}
"""


class FoundByPart(NamedTuple):
    """The records found by a part of a field.

    `ids` are the ids of all found records. `exact` are the ids of those records whose whole field equals the
    search text. `has_more` is True if not all candidates were checked.
    """

    ids: list[int]
    exact: list[int]
    has_more: bool


def find_by_part(tx: Transaction, kind: SearchKind, field: str, text: str) -> tuple[FoundByPart, bool]:
    """Return the records that have `text` in the field. Also return True if the index is damaged, otherwise False.

    A text of three or more characters may be anywhere in the field. A shorter text must be the beginning of the
    field. With a damaged index, only records that are not in the index yet are found.
    """
    part = Wanted(text).whole
    if not part:
        return FoundByPart([], [], has_more=False), False
    is_damaged = False
    try:
        indexed = list(_indexed(tx, kind, field, part))
    except sqlite3.Error as error:
        if not is_index_damage(error):
            raise
        is_damaged, indexed = True, []
    pending = tx.rows(PENDING.format(field=field, table=kind.table), (progress(tx).last_change,))
    has_more = is_damaged or len(indexed) > MOST_FOUND or len(pending) > MOST_PENDING
    found = dict(_matching([*pending[:MOST_PENDING], *indexed[:MOST_FOUND]], part))
    exact = [each for each, is_exact in found.items() if is_exact]
    return FoundByPart(list(found), exact, has_more), is_damaged


def _indexed(tx: Transaction, kind: SearchKind, field: str, part: str) -> Iterable[tuple[int, str | None]]:
    sql = INDEXED.format(field=field, table=kind.table)
    if (ending := ending_of(part)) is not None:
        found = tx.rows(sql, (f"{kind_term(kind.mark)} AND {ending}",))
        if len(found) <= MOST_FOUND:
            return found
    if len(part) >= SHORTEST_PART:
        return tx.rows(sql, (f"{kind_term(kind.mark)} AND {phrase(part)}",))
    if len(part) > 1:
        return tx.rows(sql, (f"{kind_term(kind.mark)} AND {phrase(f'{END}{part}')}",))
    if field == kind.texts[0]:
        return tx.rows(sql, (beginning_of_first(kind.mark, part),))
    given = {"small": f"{part}*", "large": f"{part.upper()}*"}
    return tx.rows(BEGINNINGS.format(field=field, table=kind.table), given)


def _matching(records: Iterable[tuple[int, str | None]], part: str) -> Iterator[tuple[int, bool]]:
    is_in_any_place = len(part) >= SHORTEST_PART
    for record_id, value in records:
        folded = fold(value or "")
        if part in folded if is_in_any_place else folded.startswith(part):
            yield record_id, folded == part


STOCK_OF: Final = "SELECT id FROM stock WHERE article_id IN (SELECT value FROM json_each(?))"


def stock_of(tx: Transaction, found: FoundByPart) -> FoundByPart:
    """Return the stock records of the articles in `found`. In the result, `exact` is empty."""
    ids = [stock_id for (stock_id,) in tx.rows(STOCK_OF, (dumps(found.ids),))]
    return FoundByPart(ids[:MOST_FOUND], [], found.has_more or len(ids) > MOST_FOUND)
