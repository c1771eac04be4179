"""The SQL that checks the staged rows of an article import (`article_staging.py`), all together."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from wmsd.db.engine.transaction import Transaction

GIVEN_TWICE: Final = """
    SELECT line, (SELECT min(line) FROM staged_articles AS same WHERE same.{name} = staged.{name}) AS first
    FROM staged_articles AS staged WHERE {name} IS NOT NULL AND first < line ORDER BY line
"""


def given_twice(tx: Transaction, name: str) -> Iterator[tuple[int, int]]:
    """Lines that repeat the code or external_ref of an earlier line, each with that line."""
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
"""An external_ref is not taken if the row of the article that has it gives that article another one."""
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


def nameless(tx: Transaction) -> Iterator[int]:
    return _lines(tx, NAMELESS)


def of_no_client(tx: Transaction) -> Iterator[int]:
    return _lines(tx, OF_NO_CLIENT)


def of_taken_external_ref(tx: Transaction) -> Iterator[int]:
    return _lines(tx, OF_TAKEN_EXTERNAL_REF)


def _lines(tx: Transaction, sql: str) -> Iterator[int]:
    """One after the other: a file may have millions of them."""
    return (line for (line,) in tx.execute(sql))


class TrackedOtherwise(NamedTuple):
    """A row that changes the tracking by serials."""

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
    """Whether an article that has to do with the rows was changed after this place in the change sequence, or
    deleted.
    """
    return bool(tx.value(CONCERNS, (change,)))
