"""Records which rows an import creates and changes in a table, so that the import can be undone later.

Created rows have higher ids than all earlier rows. A temporary trigger of the connection stores the earlier values
of each changed row. Only the last import that changed something can be undone, because its stored data replaces
the data of earlier imports.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from wmsd.db.engine.transaction import Transaction

MOST_BYTES: Final = 64 * 1024 * 1024
"""The maximum size in bytes of the stored earlier values. If they are larger, the import cannot be undone."""


def last_id(tx: Transaction, table: str) -> int:
    """Return the highest id that the table has ever used. It may be the id of a deleted row."""
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
    """Records the rows that an import creates and changes, until `end` is called. Use this within one transaction.

    Only the data of the last import that changed something is stored.
    """

    def __init__(self, tx: Transaction, import_id: int, table: str) -> None:
        self._tx, self._import_id, self._table = tx, import_id, table
        self._after = last_id(tx, table)
        pairs = ", ".join(f"'{name}', old.{name}" for name in _columns(tx, table))
        tx.execute(TRIGGER.format(table=table, last=self._after, import_id=import_id, pairs=pairs))

    def end(self, has_changed_something: bool) -> None:
        """Stop recording. If the import changed nothing, the stored data of the previous import stays."""
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


class CreatedRows(NamedTuple):
    """The rows that an import created: their ids are greater than `after`, and at most `last`."""

    import_id: int
    table: str
    after: int
    last: int


def made(tx: Transaction) -> CreatedRows | None:
    """Return the rows that the recorded import created. Return None if no import is recorded."""
    found = tx.row("SELECT import_id, table_name, after_id, last_id FROM import_rows")
    return None if found is None else CreatedRows(*found)


def forget(tx: Transaction) -> None:
    tx.execute("DELETE FROM import_rows")
    tx.execute("DELETE FROM import_images")


REFERRING: Final = """
    SELECT child.name, key."from"
    FROM main.sqlite_schema AS child JOIN pragma_foreign_key_list(child.name) AS key
    WHERE child.type = 'table' AND key."table" = ?
"""


def referred_to(tx: Transaction, table: str, after: int, last: int, most: int) -> Iterator[tuple[int, str]]:
    """Yield the ids of created rows that other rows refer to, each with the name of the referring table.

    The created rows have ids greater than `after` and at most `last`. Yield at most `most` ids for each column
    that refers to `table`.
    """
    for child, column in tx.rows(REFERRING, (table,)):
        sql = f"SELECT DISTINCT {column} FROM {child} WHERE {column} > ? AND {column} <= ? LIMIT ?"
        for (row_id,) in tx.rows(sql, (after, last, most)):
            yield row_id, child


def changed_since(tx: Transaction, of: CreatedRows, last_change: int, at: str, most: int) -> list[int]:
    """Return the ids of rows that the import created or changed, and that were changed again after the import.
    Return at most `most` ids.

    The import ended at the position `last_change` and at the time `at`.
    """
    is_changed = "change_seq > :change" if "change_seq" in _columns(tx, of.table) else "updated_at <> :at"
    sql = f"""
        SELECT id FROM {of.table} WHERE {is_changed} AND (
            (id > :after AND id <= :last) OR id IN (SELECT row_id FROM import_images)
        ) ORDER BY id LIMIT :most
    """
    values = {"change": last_change, "at": at, "most": most}
    return [each for (each,) in tx.rows(sql, {**of._asdict(), **values})]


def delete_made(tx: Transaction, of: CreatedRows) -> None:
    """Delete the rows that the import created. Raise sqlite3.IntegrityError if another row refers to one."""
    tx.execute(f"DELETE FROM {of.table} WHERE id > ? AND id <= ?", (of.after, of.last))


RESTORE: Final = """
    UPDATE {table} SET {values} FROM (
        SELECT row_id, image, row_number() OVER (ORDER BY row_id) AS place
        FROM import_images
    ) AS kept WHERE {table}.id = kept.row_id
"""


def restore(tx: Transaction, of: CreatedRows, moment: str = ":now") -> int:
    """Restore the earlier values of the rows that the import changed, and give these rows new positions in the
    change sequence.

    The new positions follow the position `before`. The new position of a row is `before` plus `place`, the row's
    number among the restored rows. Return `before`, or 0 if the table has no positions. `moment` is an SQL
    expression for `updated_at`, in which `:before` and `place` may occur.
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
