"""The SQL of articles."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.letters import UNDECOMPOSED
from wmsd.base.problems import or_not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import CursorQuery, IdsQuery, PageQuery
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import undo_rows
from wmsd.db.sql.change_sequence import change_columns, creation_columns
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import check_fields_are_read, record_sql
from wmsd.db.sql.statements import insert_sql, update_sql
from wmsd.warehouse.articles.rules import SHORTEST_BEGINNING, search_words
from wmsd.warehouse.articles.schema import Article, ArticleFields, ArticleFilters

RECORD: Final = record_sql(Article)
COLUMNS: Final = tuple(ArticleFields.model_fields)
check_fields_are_read(ArticleFields, Article)

HAS_BARCODE: Final = "(barcode = :barcode OR EXISTS (SELECT 1 FROM json_each(barcodes) WHERE value = :barcode))"
HAS_ITS_WORDS: Final = "id IN (SELECT rowid FROM article_search WHERE article_search MATCH :barcode_words)"
"""The first condition of the filter by barcode. It finds the few articles whose index entry has the words of the
barcode. The second condition, `HAS_BARCODE`, compares the whole barcode.
"""
IS_LOW: Final = """id IN (
    SELECT article_id FROM low_articles WHERE :low
    UNION ALL SELECT other.id FROM articles AS other WHERE NOT :low AND other.id NOT IN low_articles
)"""
COUNT_LOW: Final = "SELECT count(DISTINCT article_id) FROM low_articles"
LISTING: Final = Listing(
    source="articles",
    order="id",
    filters=conditions(
        ArticleFilters,
        search="id IN (SELECT rowid FROM article_search WHERE article_search MATCH :search)",
        barcode=HAS_BARCODE,
        low=IS_LOW,
        updated_since="change_seq > :updated_since",
    )
    | {"barcode_words": HAS_ITS_WORDS},
    count="articles",
)
CHANGES: Final = Listing(source="articles", order="change_seq", filters={}, count="articles")


def page(tx: Transaction, query: PageQuery, values: Mapping[str, object], fields: Iterable[str] | None) -> Page:
    searched = _searched(values)
    if searched is None:
        return Page("", 0)
    return LISTING.page(tx, RECORD if fields is None else record_sql(Article, fields=fields), query, searched)


def after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    searched = _searched(query.filters())
    if searched is None:
        return CursorPage("", position, has_more=False, positions="")
    return LISTING.after(tx, RECORD, query, position, searched)


def find(tx: Transaction, query: IdsQuery) -> Records:
    return LISTING.of(tx, RECORD, "id", query.ids)


def _searched(values: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the parameters of the SQL for the filters that a caller has sent. Return None if no article can
    match.
    """
    found = dict(values)
    if "search" in values:
        found["search"] = search_expression(str(values["search"]))
        if found["search"] is None:
            return None
    if "barcode" in values and (phrase := _phrase(str(values["barcode"]))) is not None:
        found["barcode_words"] = phrase
    return found


def search_expression(search: str) -> str | None:
    """Return the FTS5 query for the words of the search text. Return None if the text has no words, because then
    no article matches.
    """
    words = search_words(search)
    return " ".join(map(_term, words)) if words else None


def _phrase(barcode: str) -> str | None:
    """Return an FTS5 query for the words of a barcode. Return None if the search index may not contain these
    words.
    """
    if "\0" in barcode or not any(each.isascii() and each.isalnum() for each in barcode):
        return None
    doubled = barcode.translate(UNDECOMPOSED).replace('"', '""')
    return f'barcodes : "{doubled}"'


def _term(word: str) -> str:
    """Return a word as a part of an FTS5 query. A long word finds all words that begin with it. A short word finds
    only the whole word.
    """
    return f'"{word}"*' if len(word) >= SHORTEST_BEGINNING else f'"{word}"'


def changes(tx: Transaction, query: CursorQuery, after: int) -> CursorPage:
    return CHANGES.after(tx, RECORD, query, after, {})


ALL: Final = f"SELECT {RECORD} FROM articles ORDER BY id"


def every(tx: Transaction) -> Iterator[str]:
    """Yield every article as JSON text, for exports."""
    return (row[0] for row in tx.execute(ALL))


ONE: Final = f"SELECT {RECORD} FROM articles WHERE id = ?"


def one(tx: Transaction, id: int) -> Record:
    """Return the article. Raise Problem (404) if no article has the id."""
    return Record(id, or_not_found(tx.value(ONE, (id,)), "article"))


def id_of_code(tx: Transaction, code: str) -> int | None:
    return tx.find_number("SELECT id FROM articles WHERE code = ?", (code,))


def id_of_external_ref(tx: Transaction, external_ref: str) -> int | None:
    return tx.find_number("SELECT id FROM articles WHERE external_ref = ?", (external_ref,))


REFERENCES: Final = """
    SELECT id, code, active, track_serial FROM articles WHERE {column} IN (SELECT value FROM json_each(?))
"""
REFERENCES_BY: Final = {column: REFERENCES.format(column=column) for column in ("id", "code")}


@dataclass(frozen=True, slots=True)
class Reference:
    id: int
    code: str
    is_active: bool
    tracks_serials: bool


def references(tx: Transaction, ids: Iterable[int], codes: Iterable[str]) -> list[Reference]:
    """Return the articles that have one of the ids or one of the codes."""
    found: dict[int, Reference] = {}
    for column, values in (("id", list(ids)), ("code", list(codes))):
        for article_id, code, active, serial in tx.rows(REFERENCES_BY[column], (dumps(values),)) if values else ():
            found[article_id] = Reference(article_id, code, bool(active), bool(serial))
    return [*found.values()]


COLUMNS_OF_ONE: Final = f"SELECT {', '.join(COLUMNS)} FROM articles WHERE id = ?"


def columns(tx: Transaction, article_id: int) -> dict[str, Any] | None:
    """Return the article's fields as they are stored, or None if no article has the id."""
    return tx.record(COLUMNS_OF_ONE, (article_id,))


WRITTEN: Final = (*COLUMNS, "change_seq", "created_at", "updated_at")
INSERT: Final = insert_sql("articles", WRITTEN)


def insert(tx: Transaction, values: Mapping[str, object]) -> int:
    return tx.insert(INSERT, {**values, **creation_columns(tx)})


UPDATE: Final = update_sql("articles", (*COLUMNS, "change_seq", "updated_at"))


def update(tx: Transaction, article_id: int, values: Mapping[str, object]) -> None:
    tx.execute(UPDATE, {**values, "id": article_id, **change_columns(tx)})


def last_id(tx: Transaction) -> int:
    """Return the highest id that an article ever had. The article may be deleted."""
    return undo_rows.last_id(tx, "articles")


CREATED_AFTER: Final = f"SELECT id AS entity_id, {RECORD} AS data FROM articles WHERE id > :last_id ORDER BY id"
