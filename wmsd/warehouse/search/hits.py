"""The search for records, lots and serials. It reads the search index, and also the records that have changed
since the index was last updated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.contract.permissions import Permissions
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.search.index_damage import is_index_damage
from wmsd.warehouse.search.schema import ArticleOfCode, Choice, Hit
from wmsd.warehouse.search.search_kinds import BY_NAME, KINDS, PartKind, SearchKind
from wmsd.warehouse.search.search_store import LAST_MOVEMENT, Key, changed_parts, changed_records, progress
from wmsd.warehouse.search.search_text import Wanted, folded_fields, of_kinds

MOST_HITS: Final = 30
MOST_CHOICES: Final = 10
MOST_PENDING: Final = 1000
"""The maximum number of changes that are not in the index yet, but are searched nevertheless. It applies to the
changed records of each kind, and also to movements.
"""
MATCH: Final = f"""
    SELECT kind, key FROM search_index CROSS JOIN search_entries ON number = search_index.rowid
    WHERE search_index MATCH ? {{only}} ORDER BY search_index.rowid DESC LIMIT {MOST_HITS + 1}
"""
MOST_WITH_ENDING: Final = 300
"""For a long search text, wmsd first finds the records that contain the end of the text. If there are more than
this number of records, wmsd searches the index for the whole text instead.
"""
WITH_ENDING: Final = f"""
    SELECT kind, key FROM search_index CROSS JOIN search_entries ON number = search_index.rowid
    WHERE search_index MATCH ? {{only}} ORDER BY search_index.rowid DESC LIMIT {MOST_WITH_ENDING + 1}
"""
TEXTS_OF: Final = "SELECT id, {texts} FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
ACTIVE: Final = "AND EXISTS (SELECT 1 FROM {table} WHERE {table}.id = key AND active)"
RECORDS_OF: Final = """
    SELECT id, code, {says} AS says, {status} AS status, {texts}
    FROM {table} WHERE id IN (SELECT value FROM json_each(?))
"""
ARTICLES_OF: Final = """
    SELECT id, code || ' ' || name FROM articles WHERE id IN (SELECT value FROM json_each(?))
"""

AVAILABLE: Final = """(
    SELECT coalesce(sum(quantity - reserved - quarantined), 0) FROM stock
    WHERE article_id = articles.id AND warehouse_id = coalesce(:warehouse_id, warehouse_id)
)"""
CHOICES: Final = """
    SELECT {record} FROM json_each(:ids) AS found JOIN {table} ON {table}.id = found.value
    WHERE active ORDER BY found.key LIMIT {most}
"""
NOT_OF_PARTNERS: Final = {"unit": "NULL", "unit_3pl": "NULL", "available": "NULL"}
CHOICES_OF: Final = {
    "articles": CHOICES.format(
        record=record_sql(Choice, {"id": "articles.id", "available": f"iif(:sees_stock, {AVAILABLE}, NULL)"}),
        table="articles",
        most=MOST_CHOICES,
    ),
    "partners": CHOICES.format(
        record=record_sql(Choice, {"id": "partners.id", **NOT_OF_PARTNERS}), table="partners", most=MOST_CHOICES
    ),
}
"""Selects the active records of a kind whose ids are in the list `:ids`. The result has the order of this list."""

ARTICLES_OF_CODES: Final = f"""
    SELECT {record_sql(ArticleOfCode, {"available": f"iif(:sees_stock, {AVAILABLE}, NULL)"})}
    FROM articles WHERE code IN (SELECT value FROM json_each(:codes))
"""

Place = tuple[str, Key]
"""Identifies a record: its kind, and its key in the index."""
Kinds = Sequence[SearchKind | PartKind]


class Found(NamedTuple):
    hits: list[Hit]
    has_more: bool
    is_behind: bool
    is_damaged: bool
    """True if the index could not be read. The result then has only records that are not in the index yet."""


def find_records(
    tx: Transaction, permissions: Permissions, text: str, kinds: Kinds = KINDS, is_exact: bool = False
) -> Found:
    """Return the best matches among the records of these kinds that the caller may list.

    Exact matches come first, then matches at the beginning of a field, then all other matches. In each of these
    groups, the newest records come first. With `is_exact`, return only exact matches: the whole field equals the
    search text.

    The field `says` of a match is the text beside its code, such as the partner's name. If it comes from a record
    that the caller may not list, such as the partner, `says` is empty.
    """
    kinds = [kind for kind in kinds if permissions.objection(kind.listing) is None]
    wanted = Wanted(text, is_exact)
    pending, is_behind = _pending(tx, kinds, wanted)
    places, is_damaged = _places(tx, kinds, wanted, pending)
    untold = {kind.name for kind in kinds if kind.of is not None and permissions.objection(kind.of) is not None}
    hits = [
        hit.model_copy(update={"says": ""}) if hit.kind in untold else hit
        for hit in _hits(tx, places[:MOST_HITS], wanted)
    ]
    return Found(hits, len(places) > MOST_HITS, is_behind, is_damaged)


def find_active(tx: Transaction, kind: SearchKind, text: str) -> tuple[list[Key], bool]:
    """Return the ids of the best matches among the active records of a kind. Also return whether the index is
    damaged.
    """
    wanted = Wanted(text)
    pending, _ = _pending(tx, [kind], wanted)
    places, is_damaged = _places(tx, [kind], wanted, pending, only_active=True)
    return [key for _, key in places], is_damaged


def _places(
    tx: Transaction, kinds: Kinds, wanted: Wanted, pending: Mapping[Place, int | None], only_active: bool = False
) -> tuple[list[Place], bool]:
    """Return the matches, the best first. Also return whether the index is damaged.

    `pending` has the changed records that are not in the index yet, with their ranks. With `only_active`, `kinds`
    has only one kind, and its inactive records are omitted.
    """
    found, is_damaged = dict[Place, None](), False
    only = ACTIVE.format(table=kinds[0].table) if only_active and isinstance(kinds[0], SearchKind) else ""
    marks = [kind.mark for kind in kinds]
    try:
        with_ending = _with_ending(tx, marks, only, wanted) if kinds else None
        for rank, query in enumerate(wanted.queries(marks)):
            found |= dict.fromkeys(place for place, own in pending.items() if own == rank)
            if with_ending is not None and wanted.has_all(rank):
                matches = [place for place, own in with_ending.items() if own == rank]
            else:
                matches = list(tx.rows(MATCH.format(only=only), (query,)))
            found |= dict.fromkeys(place for place in matches if place not in pending)
    except sqlite3.Error as error:
        if not is_index_damage(error):
            raise
        is_damaged = True
        found |= dict.fromkeys(place for place, own in pending.items() if own is not None)
    return list(found), is_damaged


def _with_ending(
    tx: Transaction, marks: Sequence[str], only: str, wanted: Wanted
) -> Mapping[Place, int | None] | None:
    """Return the records that contain the end of a long search text, the newest first. Each has its rank (see
    `Wanted.rank`).

    Return None if the search text is short, or if too many records contain its end.
    """
    if wanted.ending is None:
        return None
    places = list(tx.rows(WITH_ENDING.format(only=only), (f"({of_kinds(marks)}) AND {wanted.ending}",)))
    if len(places) > MOST_WITH_ENDING:
        return None
    texts = dict(_texts(tx, places))
    return {place: wanted.rank(folded_fields(texts[place])) for place in places if place in texts}


def _texts(tx: Transaction, places: Iterable[Place]) -> Iterator[tuple[Place, Sequence[object]]]:
    """Yield each record of `places`, with its texts that can be searched."""
    for name, keys in _by_kind(places).items():
        kind = BY_NAME[name]
        if isinstance(kind, SearchKind):
            sql = TEXTS_OF.format(texts=", ".join(kind.texts), table=kind.table)
            yield from (((name, row[0]), row[1:]) for row in tx.rows(sql, (dumps(keys),)))
        else:
            yield from (((name, key), [str(key).partition(":")[2]]) for key in keys)


def _by_kind(places: Iterable[Place]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = {}
    for name, key in places:
        found.setdefault(name, []).append(key)
    return found


def _pending(tx: Transaction, kinds: Kinds, wanted: Wanted) -> tuple[Mapping[Place, int | None], bool]:
    """Return the changed records that are not in the index yet. Also return True if there are too many of them.

    The records come newest first. Each has its rank (see `Wanted.rank`), or None if it does not match. If there
    are more than `MOST_PENDING`, some of them are not searched.
    """
    indexed, found, is_behind = progress(tx), dict[Place, int | None](), False
    for kind in kinds:
        if isinstance(kind, SearchKind):
            records = list(changed_records(tx, kind, indexed.last_change, MOST_PENDING))
            changed = [(record.key, record.fields) for record in records]
        else:
            changed = list(changed_parts(tx, kind, indexed.last_movement, indexed.last_movement + MOST_PENDING))
            is_behind = is_behind or tx.value(LAST_MOVEMENT) > indexed.last_movement + MOST_PENDING
        is_behind = is_behind or len(changed) >= MOST_PENDING
        found |= {(kind.name, key): wanted.rank(fields) for key, fields in reversed(changed)}
    return found, is_behind


def _hits(tx: Transaction, places: Sequence[Place], wanted: Wanted) -> Iterator[Hit]:
    """Return the found records in the order of `places`. Omit records that no longer exist."""
    shown: dict[Place, Hit] = {}
    for name, keys in _by_kind(places).items():
        kind = BY_NAME[name]
        of = _records(tx, kind, keys, wanted) if isinstance(kind, SearchKind) else _parts(tx, kind, keys, wanted)
        shown |= {(name, key): hit for key, hit in of}
    return (shown[place] for place in places if place in shown)


def _records(tx: Transaction, kind: SearchKind, keys: Iterable[Key], wanted: Wanted) -> Iterator[tuple[Key, Hit]]:
    texts = ", ".join(kind.texts)
    sql = RECORDS_OF.format(says=kind.says, status=kind.status, texts=texts, table=kind.table)
    for record_id, code, says, status, *values in tx.rows(sql, (dumps(list(keys)),)):
        field, text, rank = _best_field(dict(zip(kind.texts, values, strict=True)), wanted)
        yield (
            record_id,
            Hit(
                kind=kind.name,
                id=record_id,
                code=code,
                says=says,
                status=status,
                found_in=field,
                found=text,
                is_exact=rank == 0,
            ),
        )


def _best_field(record: Mapping[str, Any], wanted: Wanted) -> tuple[str, str, int | None]:
    """Return the name, the text and the rank of the field that matches the search text best.

    If no single field matches, because the words are in different fields, return the field `code` with the rank
    None.
    """
    ranked = [
        (rank, name, str(value))
        for name, value in record.items()
        if (rank := wanted.rank(folded_fields([value]))) is not None
    ]
    if not ranked:
        return "code", record["code"], None
    rank, name, value = min(ranked, key=lambda each: each[0])
    return name, value, rank


def _parts(tx: Transaction, kind: PartKind, keys: Iterable[Key], wanted: Wanted) -> Iterator[tuple[Key, Hit]]:
    split = [(key, *str(key).split(":", 1)) for key in keys]
    ids = dumps([int(article_id) for _, article_id, _ in split])
    articles: dict[int, str] = dict(tx.rows(ARTICLES_OF, (ids,)))
    for key, article_id, text in split:
        if int(article_id) in articles:
            yield (
                key,
                Hit(
                    kind=kind.name,
                    id=int(article_id),
                    code=text,
                    says=articles[int(article_id)],
                    status=None,
                    found_in=kind.column,
                    found=text,
                    is_exact=wanted.rank(folded_fields([text])) == 0,
                ),
            )
