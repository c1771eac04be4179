"""Keeps what a unit of work makes and changes in a table, so that it can be taken back later.

Rows that are made have the ids after the last one. Of rows that are changed the state before is kept, by a trigger
of this connection alone. Only the last of such units of work is kept.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from wmsd.db.engine.transaction import Transaction

MOST_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of states before that are kept. When there are more, the unit of work cannot be taken back."""


def last_id(tx: Transaction, table: str) -> int:
    """The last id that the table has given, also to a row that is gone."""
    return tx.number("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))


TRIGGER: Final = """
    CREATE TEMP TRIGGER keep_{table} AFTER UPDATE ON main.{table} WHEN old.id <= {last} BEGIN
        INSERT OR IGNORE INTO import_images (import_id, row_id, image)
        VALUES ({import_id}, old.id, json_object({pairs}));
    END
"""
BYTES: Final = "SELECT coalesce(sum(length(image)), 0) FROM import_images WHERE import_id = ?"
KEEP: Final = "INSERT INTO import_rows (import_id, table_name, after_id, last_id) VALUES (?, ?, ?, ?)"


class Keeping:
    """From its making until `end`, in one transaction. Only the last import that has changed something is kept."""

    def __init__(self, tx: Transaction, import_id: int, table: str) -> None:
        self._tx, self._import_id, self._table = tx, import_id, table
        self._after = last_id(tx, table)
        pairs = ", ".join(f"'{name}', old.{name}" for name in _columns(tx, table))
        tx.execute(TRIGGER.format(table=table, last=self._after, import_id=import_id, pairs=pairs))

    def end(self, has_changed_something: bool) -> None:
        """Without a change, what is kept of an earlier one stays."""
        tx, own = self._tx, (self._import_id,)
        tx.execute(f"DROP TRIGGER temp.keep_{self._table}")
        if not has_changed_something:
            return
        if tx.value(BYTES, own) <= MOST_BYTES:
            tx.execute(KEEP, (self._import_id, self._table, self._after, last_id(tx, self._table)))
            tx.execute("DELETE FROM import_rows WHERE import_id <> ?", own)
            tx.execute("DELETE FROM import_images WHERE import_id <> ?", own)
        else:
            forget(tx)


def _columns(tx: Transaction, table: str) -> list[str]:
    return [name for (name,) in tx.rows("SELECT name FROM pragma_table_info(?)", (table,))]


class Made(NamedTuple):
    """The rows that were made: those with the ids after `after`, up to `last`."""

    import_id: int
    table: str
    after: int
    last: int


def made(tx: Transaction) -> Made | None:
    """What is kept; None when there is nothing."""
    found = tx.row("SELECT import_id, table_name, after_id, last_id FROM import_rows")
    return None if found is None else Made(*found)


def forget(tx: Transaction) -> None:
    tx.execute("DELETE FROM import_rows")
    tx.execute("DELETE FROM import_images")


REFERRING: Final = """
    SELECT child.name, key."from"
    FROM main.sqlite_schema AS child JOIN pragma_foreign_key_list(child.name) AS key
    WHERE child.type = 'table' AND key."table" = ?
"""


def referred_to(tx: Transaction, table: str, after: int, last: int, most: int) -> Iterator[tuple[int, str]]:
    """Rows of those ids that others refer to, each with the table that does: the first few."""
    for child, column in tx.rows(REFERRING, (table,)):
        sql = f"SELECT DISTINCT {column} FROM {child} WHERE {column} > ? AND {column} <= ? LIMIT ?"
        for (row_id,) in tx.rows(sql, (after, last, most)):
            yield row_id, child


def changed_since(tx: Transaction, of: Made, last_change: int, at: str, most: int) -> list[int]:
    """The ids of kept rows that somebody has changed since, the first few. `at` is when they were kept."""
    is_changed = "change_seq > :change" if "change_seq" in _columns(tx, of.table) else "updated_at <> :at"
    sql = f"""
        SELECT id FROM {of.table} WHERE {is_changed} AND (
            (id > :after AND id <= :last) OR id IN (SELECT row_id FROM import_images)
        ) ORDER BY id LIMIT :most
    """
    values = {"change": last_change, "at": at, "most": most}
    return [each for (each,) in tx.rows(sql, {**of._asdict(), **values})]


def delete_made(tx: Transaction, of: Made) -> None:
    """Deletes the rows that were made. Raises sqlite3.IntegrityError when one is referred to."""
    tx.execute(f"DELETE FROM {of.table} WHERE id > ? AND id <= ?", (of.after, of.last))


RESTORE: Final = """
    UPDATE {table} SET {values} FROM (
        SELECT row_id, image, row_number() OVER (ORDER BY row_id) AS place
        FROM import_images
    ) AS kept WHERE {table}.id = kept.row_id
"""


def restore(tx: Transaction, of: Made, moment: str = ":now") -> int:
    """Gives the changed rows the values from before. Answers the place in the change sequence before the first.

    `moment` is the SQL of `updated_at` for the place `:before + place`, where the table has places.
    """
    names = _columns(tx, of.table)
    values = [f"{name} = image ->> '$.{name}'" for name in names if name not in ("id", "change_seq", "updated_at")]
    values.append(f"updated_at = {moment}")
    before = 0
    if "change_seq" in names:
        values.append("change_seq = :before + place")
        before = tx.next_changes(max(tx.number("SELECT count(*) FROM import_images"), 1))[0] - 1
    tx.execute(RESTORE.format(table=of.table, values=", ".join(values)), {"before": before, "now": tx.timestamp})
    return before
