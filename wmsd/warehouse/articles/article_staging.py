"""The SQL of article imports.

The rows of a file are first stored in a temporary table and checked there. Then all rows are written together. A
separate statement for each row takes four times as long, because FTS5 writes its index at the end of each
statement.

The column `line` of the temporary table has the order of the rows. If a field cannot be null, NULL in its column
means that the row gives no value. If a field can be null, NULL empties the field, provided that the file has its
column.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from wmsd.base.problems import FieldErrors
from wmsd.contract.bulk_imports import Progress
from wmsd.contract.csv_cells import is_nullable
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import updated_at_sql
from wmsd.db.sql.code_forms import BEYOND_ASCII, HAS_OTHER_FORM, define_forms, differs_by_form
from wmsd.db.sql.statements import column_values
from wmsd.warehouse.articles import store
from wmsd.warehouse.articles.schema import ArticleFields

FIELDS: Final = ArticleFields.model_fields
GIVEN: Final = tuple(name for name in store.COLUMNS if name != "client_id")
STAGED: Final = ("line", *GIVEN, "client_code", "is_faulty")

TABLES: Final = (
    f"""
    CREATE TABLE {{schema}}.staged_articles (
        line INTEGER PRIMARY KEY, {", ".join(STAGED[1:])}, article_id INTEGER, difference INTEGER,
        number INTEGER
    )
    """,
    *(
        f"CREATE INDEX {{schema}}.staged_articles_by_{name} ON staged_articles ({name}) WHERE {name} IS NOT NULL"
        for name in ("code", "external_ref", "article_id")
    ),
)
"""The temporary table and its indexes.

In a small company, SQLite reads all articles, and searches the row of each article in the temporary table.
Therefore `article_id` has an index too. Each such search is a separate subquery, because a subquery always uses an
index.
"""
ADD: Final = f"INSERT INTO staged_articles ({', '.join(STAGED)}) VALUES ({', '.join('?' * len(STAGED))})"
GIVEN_TWICE: Final = """
    SELECT line, (SELECT min(line) FROM staged_articles AS same WHERE same.{name} = staged.{name}) AS first
    FROM staged_articles AS staged WHERE {name} IS NOT NULL AND first < line ORDER BY line
"""


@cache
def _defaults() -> dict[str, Any]:
    """Return the default values of an article's fields, in stored form.

    The values are computed only at the first call, because pydantic must first build the model.
    """
    return column_values(ArticleFields.model_construct(code="", name="").model_dump())


def add(tx: Transaction, rows: Iterable[tuple[object, ...]]) -> None:
    """Add rows to the temporary table. Each row has the values of the columns in `STAGED`, in that order."""
    tx.executemany(ADD, rows)


SAME, OTHER, FOUND_OTHERWISE = 0, 1, 2
"""What a row changes in its article. `SAME`: nothing. `OTHER`: only fields that are not in the search index.
`FOUND_OTHERWISE`: fields that are in the search index.
"""
SEARCHED: Final = ("name", "barcode", "barcodes")
CLIENT: Final = "(SELECT clients.id FROM clients WHERE clients.code = {staged}.client_code)"
COMPARE: Final = f"""
    UPDATE staged_articles SET difference = (
        SELECT CASE WHEN {{searched}} THEN {FOUND_OTHERWISE} WHEN {{others}} THEN {OTHER} ELSE {SAME} END
        FROM articles WHERE articles.id = staged_articles.article_id
    )
"""
COUNTS: Final = f"""
    SELECT count(*) FILTER (WHERE article_id IS NULL), count(*) FILTER (WHERE difference <> {SAME}),
        count(*) FILTER (WHERE difference = {SAME})
    FROM staged_articles
"""


def compare(tx: Transaction, sent: Collection[str]) -> tuple[int, int, int]:
    """Compare the rows with the stored articles. Return how many rows create an article, how many change one, and
    how many change nothing.

    `sent` are the columns of the file.
    """

    def differ(names: Iterable[str]) -> str:
        of_column = [
            f"coalesce({_given(name, 'staged_articles')}, articles.{name}) <> articles.{name}"
            if not is_nullable(FIELDS[name])
            else f"{_given(name, 'staged_articles')} IS NOT articles.{name}"
            for name in names
        ]
        return " OR ".join(of_column) or "0"

    columns = _columns(sent)
    searched = [name for name in columns if name in SEARCHED]
    others = [name for name in columns if name not in SEARCHED]
    tx.execute(COMPARE.format(searched=differ(searched), others=differ(others)))
    (counts,) = tx.rows(COUNTS)
    return counts[0], counts[1], counts[2]


NUMBER: Final = """
    UPDATE staged_articles SET number = new.number
    FROM (
        SELECT line, row_number() OVER (ORDER BY line) AS number FROM staged_articles WHERE article_id IS NULL
    ) AS new
    WHERE staged_articles.line = new.line
"""


def number(tx: Transaction) -> None:
    """Give the rows that create an article the numbers 1, 2 and so on. The id of a new article is the highest used
    id plus the number of its row.
    """
    tx.execute(NUMBER)


def _columns(sent: Collection[str]) -> list[str]:
    """Return the article's columns that the file has, except the code."""
    return [
        name
        for name in store.COLUMNS
        if name != "code" and (name in sent or (name == "client_id" and "client_code" in sent))
    ]


def _given(name: str, staged: str = "staged") -> str:
    return CLIENT.format(staged=staged) if name == "client_id" else f"{staged}.{name}"


WRITTEN_AT: Final = updated_at_sql(":before + line")
INSERT: Final = f"""
    INSERT INTO articles (id, {", ".join(store.WRITTEN)})
    SELECT :last_id + number, {{values}}, :before + line, :now, {WRITTEN_AT}
    FROM staged_articles AS staged
    WHERE article_id IS NULL AND line > :after AND line <= :until ORDER BY line
"""
GIVE_UP: Final = """
    UPDATE articles SET external_ref = NULL FROM staged_articles AS staged
    WHERE articles.id = article_id AND articles.external_ref <> coalesce(staged.external_ref, '')
"""
FORGET_WORDS: Final = f"""
    DELETE FROM article_search WHERE rowid IN (
        SELECT article_id FROM staged_articles WHERE difference = {FOUND_OTHERWISE}
    )
"""
"""Deletes the index entries of all articles whose searched fields will change. Otherwise a trigger would update
the index article by article, which takes FTS5 twice as long.
"""
UPDATE: Final = f"""
    UPDATE articles SET {{values}}, change_seq = :before + line, updated_at = {WRITTEN_AT}
    FROM staged_articles AS staged WHERE articles.id = article_id AND difference = {{difference}}
"""
SLICE: Final = 20_000
"""The number of lines per INSERT statement. SQLite keeps the rows of a statement in memory: 4 MB with this number.
With a much smaller number, FTS5 would be slow.
"""
UPDATED_AFTER: Final = f"""
    SELECT id AS entity_id, {store.RECORD} AS data FROM articles
    WHERE change_seq > :before AND id <= :last_id ORDER BY change_seq
"""


def apply(tx: Transaction, sent: Collection[str], progress: Progress) -> int:
    """Create and change the articles. Return the last number of the change sequence before these changes.

    The changes get their numbers in the order of the lines.
    """
    last: int = tx.value("SELECT max(line) FROM staged_articles")
    before = tx.next_changes(last)[0] - 1
    columns = _columns(sent)
    moment = {"before": before}
    if "external_ref" in columns:
        tx.execute(GIVE_UP)  # allows two articles to swap their external references
    tx.execute(FORGET_WORDS)
    for sql in _updates(columns):
        tx.execute(sql, moment)
    insert, given = _insert(columns), {**_defaults(), **moment, "now": tx.timestamp, "last_id": store.last_id(tx)}
    for after in range(0, last, SLICE):
        progress(after, last)
        tx.execute(insert, {**given, "after": after, "until": after + SLICE})
    return before


def _updates(columns: list[str]) -> Iterator[str]:
    """Yield at most two UPDATE statements: one for the rows that change no field of the search index, and one for
    the rows that change such a field. So the first statement does not write the index.
    """
    for difference, names in (
        (OTHER, [name for name in columns if name not in SEARCHED]),
        (FOUND_OTHERWISE, columns),
    ):
        if names:
            values = ", ".join(f"{name} = {_laid_over(name)}" for name in names)
            yield UPDATE.format(values=values, difference=difference)


def _laid_over(name: str) -> str:
    return _given(name) if is_nullable(FIELDS[name]) else f"coalesce({_given(name)}, articles.{name})"


def _insert(columns: list[str]) -> str:
    return INSERT.format(
        values=", ".join(
            _given(name) if name in columns and is_nullable(FIELDS[name]) else f"coalesce({_given(name)}, :{name})"
            for name in store.COLUMNS
        )
    )


def repeated_lines(tx: Transaction, name: str) -> Iterator[tuple[int, int]]:
    """Find the lines that repeat a value of an earlier line in the column `name` (code or external_ref). Return
    the number of each such line, and the number of the first line with the value.
    """
    return iter(tx.execute(GIVEN_TWICE.format(name=name)))


FIND_KNOWN: Final = """
    UPDATE staged_articles SET article_id = (SELECT id FROM articles WHERE articles.code = staged_articles.code)
"""
NAMELESS: Final = "SELECT line FROM staged_articles WHERE article_id IS NULL AND name IS NULL ORDER BY line"
OF_NO_CLIENT: Final = """
    SELECT line FROM staged_articles
    WHERE client_code IS NOT NULL AND NOT EXISTS (SELECT 1 FROM clients WHERE clients.code = client_code)
    ORDER BY line
"""
OF_TAKEN_EXTERNAL_REF: Final = """
    SELECT line FROM staged_articles AS staged CROSS JOIN articles ON articles.external_ref = staged.external_ref
    WHERE NOT is_faulty AND articles.id IS NOT article_id AND NOT EXISTS (
        SELECT 1 FROM staged_articles AS holder
        WHERE holder.code = articles.code AND holder.external_ref IS NOT articles.external_ref
    )
    ORDER BY line
"""
"""Selects the lines whose external_ref belongs to another article. It omits a line if the file also changes the
external_ref of that other article.
"""
OF_OTHER_FORM: Final = f"""
    SELECT line FROM staged_articles AS staged WHERE article_id IS NULL AND {BEYOND_ASCII} AND (
        EXISTS (SELECT 1 FROM articles WHERE {HAS_OTHER_FORM.format(table="articles", staged="staged")})
        OR EXISTS (
            SELECT 1 FROM staged_articles AS first
            WHERE {HAS_OTHER_FORM.format(table="first", staged="staged")} AND first.line < staged.line
        )
    )
    ORDER BY line
"""
TRACKED_OTHERWISE: Final = """
    SELECT line, article_id, wanted, track_serial FROM (
        SELECT line, article_id, track_serial AS wanted, (
            SELECT articles.track_serial FROM articles WHERE articles.id = staged.article_id
        ) AS track_serial
        FROM staged_articles AS staged WHERE NOT is_faulty AND article_id IS NOT NULL
    )
    WHERE wanted <> track_serial ORDER BY line
"""


def find_known(tx: Transaction) -> None:
    tx.execute(FIND_KNOWN)


def refused(tx: Transaction) -> Iterator[tuple[int, FieldErrors]]:
    """Yield the number and the errors of each faulty line. Faults are a missing name, an unknown client, a taken
    external_ref, and another Unicode form of an existing code.

    A file may have millions of such lines, so they are read one by one.
    """
    yield from _lines(tx, NAMELESS, errors={"name": ["is required"]})
    yield from _lines(tx, OF_NO_CLIENT, errors={"client_code": ["is not a client of this company"]})
    define_forms(tx)
    yield from _lines(tx, OF_OTHER_FORM, errors={"code": [differs_by_form("article")]})
    yield from _lines(tx, OF_TAKEN_EXTERNAL_REF, errors={"external_ref": ["is taken by another article"]})


def _lines(tx: Transaction, sql: str, errors: FieldErrors) -> Iterator[tuple[int, FieldErrors]]:
    return ((line, errors) for (line,) in tx.execute(sql))


class TrackedOtherwise(NamedTuple):
    """A row that switches its article's tracking by serials on or off: `wanted` is the value in the row,
    `track_serial` the value in the article.
    """

    line: int
    article_id: int
    wanted: int
    track_serial: int


def tracked_otherwise(tx: Transaction) -> Iterator[TrackedOtherwise]:
    return (TrackedOtherwise(*row) for row in tx.execute(TRACKED_OTHERWISE))


CONCERNS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM articles WHERE change_seq > ? AND (
            EXISTS (SELECT 1 FROM staged_articles AS staged WHERE staged.article_id = articles.id)
            OR EXISTS (SELECT 1 FROM staged_articles AS staged WHERE staged.code = articles.code)
            OR EXISTS (SELECT 1 FROM staged_articles AS staged WHERE staged.external_ref = articles.external_ref)
        )
    ) OR EXISTS (
        SELECT 1 FROM staged_articles AS staged WHERE article_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM articles WHERE articles.id = staged.article_id)
    )
"""


def is_concerned_since(tx: Transaction, change: int) -> bool:
    """Return True if an article that concerns the file was created, changed or deleted after the number `change`
    of the change sequence. An article concerns the file if a row changes it, or if it has the code or the
    external_ref of a row.
    """
    return bool(tx.value(CONCERNS, (change,)))
