"""The undo of an article import. It deletes the articles that the import created. It restores the articles that
the import changed.
"""

from collections.abc import Iterator
from typing import Final

from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import undo_rows
from wmsd.db.sql.change_sequence import updated_at_sql
from wmsd.db.sql.undo_rows import CreatedRows
from wmsd.events.outbox.events import record_events
from wmsd.warehouse.articles import store
from wmsd.warehouse.articles.tracking_rules import Obstacles

OF_TAKEN_EXTERNAL_REF: Final = """
    SELECT holder.code, holder.external_ref
    FROM import_images AS kept CROSS JOIN articles AS holder
    WHERE holder.external_ref = kept.image ->> '$.external_ref'
        AND holder.id <> kept.row_id AND NOT (holder.id > :after AND holder.id <= :last)
        AND NOT EXISTS (SELECT 1 FROM import_images AS own WHERE own.row_id = holder.id)
    LIMIT :most
"""
TRACKED_OTHERWISE: Final = """
    SELECT articles.id, articles.code, articles.track_serial, kept.image ->> '$.track_serial'
    FROM import_images AS kept CROSS JOIN articles ON articles.id = kept.row_id
    WHERE articles.track_serial <> kept.image ->> '$.track_serial'
"""


def obstacles(tx: Transaction, made: CreatedRows, most: int) -> Iterator[str]:
    """Yield a sentence for each reason why an article cannot be restored to its state before the import: another
    article now has its external_ref, or its tracking by serials cannot be switched back.

    `made` are the articles that the import created. `most` is the maximum number of sentences about external_ref.
    The sentences about tracking are not limited. Later changes of the articles by users are not checked here, but
    in `wmsd/imports/undo.py`.
    """
    for code, external_ref in tx.rows(
        OF_TAKEN_EXTERNAL_REF, {"after": made.after, "last": made.last, "most": most}
    ):
        yield f"article {code} now has the external reference {external_ref}"
    for article_id, code, now, before in tx.rows(TRACKED_OTHERWISE):
        try:
            tx.service(Obstacles).check(tx, article_id, now, before)
        except Problem as problem:
            yield f"article {code}: tracking by serials {'; '.join(problem.errors['track_serial'])}"


DELETED: Final = f"""
    SELECT id AS entity_id, {store.RECORD} AS data FROM articles WHERE id > :after AND id <= :last ORDER BY id
"""
FORGET_WORDS: Final = """
    DELETE FROM article_search WHERE (rowid > :after AND rowid <= :last)
        OR rowid IN (SELECT row_id FROM import_images)
"""
"""Deletes the index entries of all articles of the import in one statement, before the rows change. Otherwise
triggers would delete the entries one by one, which takes twice as long.
"""
GIVE_UP: Final = """
    UPDATE articles SET external_ref = NULL
    WHERE id IN (SELECT row_id FROM import_images)
"""
CHANGED: Final = f"""
    SELECT id AS entity_id, {store.RECORD} AS data FROM articles WHERE change_seq > :before ORDER BY change_seq
"""


def undo(tx: Transaction, made: CreatedRows) -> None:
    rows = {"after": made.after, "last": made.last}
    record_events(tx, "article.deleted", DELETED, rows)
    tx.execute(FORGET_WORDS, rows)
    undo_rows.delete_made(tx, made)
    tx.execute(GIVE_UP)  # allows two articles to swap their external references
    before = undo_rows.restore(tx, made, updated_at_sql(":before + place"))
    record_events(tx, "article.updated", CHANGED, {"before": before})
