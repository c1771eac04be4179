"""Searches a file for damage, and names the table or index in which the damage is."""

import re
from collections import defaultdict
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.failures import StorageError, is_delay
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.raw_files import first_bytes
from wmsd.db.engine.sqlite import connect, connect_as_it_is, log_bytes, sqlite3
from wmsd.db.engine.transaction import Transaction, snapshot
from wmsd.db.migrations import COMPANY, PLATFORM, Before, FileKind, at_once, foreign_parts, migrate

UNREADABLE: Final = (sqlite3.Error, OSError, MemoryError, ValueError)
"""The errors that reading a damaged file can raise. Damaged bytes may name a size that is larger than the memory
(MemoryError), or may not be valid text (ValueError).
"""
MOST_MESSAGES: Final = 100
THE_FILE: Final = "the file"
ITS_END: Final = "the end of the file"
THE_SCHEMA: Final = "the schema"
THE_FREE_LIST: Final = "the list of free pages"
IN_TABLE: Final = "table {table}"
IN_INDEX: Final = "index {index} of table {table}"
ENDS_EARLY: Final = "it ends after {found} of {pages} pages"
NOT_MADE_BY_WMSD: Final = "parts of the schema that were changed, removed or added: {parts}"
WORDS: Final = (IN_INDEX, IN_TABLE, THE_FILE, ITS_END, THE_SCHEMA, THE_FREE_LIST, ENDS_EARLY, NOT_MADE_BY_WMSD)
"""wmsd's own texts about damage. All other texts about damage are messages of SQLite."""
OF_A_TREE: Final = re.compile(r"(?:Tree (\d+) |Freelist: )")
OF_AN_INDEX: Final = re.compile(r"(?:from|in|of) index (\S+)$")
A_TABLE: Final = "SELECT integrity_check FROM pragma_integrity_check(?)"
TREES_OF_A_TABLE: Final = f"{A_TABLE} LIMIT 1"
ROOTS: Final = "SELECT rootpage, type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0"
TABLES: Final = """
    SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' AND name <> 'sqlite_schema'
    ORDER BY name
"""


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged part of a file, and SQLite's messages about it."""

    place: str
    messages: tuple[str, ...]


def opened_to_examine(
    path: Path, kind: FileKind, owner: Owner | None = None, before_migration: Before = at_once
) -> AbstractContextManager[Transaction]:
    """Migrate a file, and open a snapshot of it. `before_migration` is called before the migration.

    If the file is damaged, the snapshot contains everything that can still be read.

    Raise StorageError, for example if the file belongs to another owner. Raise sqlite3.Error if SQLite cannot open
    the file.
    """
    try:
        migrate(path, kind, owner=owner, before=before_migration)
    except StorageError as error:
        if not getattr(error.__cause__, "sqlite_errorname", "").startswith("SQLITE_CORRUPT"):
            raise  # no part of the file can be read
        return snapshot(as_far_as_possible(connect_as_it_is(path)))
    return snapshot(connect(path))


def as_far_as_possible(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Prepare a read-only connection to read a damaged file, and return the connection.

    With `writable_schema`, SQLite uses all readable parts of the schema, even if the end of the file is missing.
    The first statements may fail nevertheless. This function therefore runs them and ignores their errors. The
    file does not change.
    """
    for statement in ("PRAGMA writable_schema = ON", "SELECT 1 FROM sqlite_schema", "PRAGMA trusted_schema = OFF"):
        with suppress(*UNREADABLE):
            connection.execute(statement).fetchone()
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection


def missing_end(path: Path) -> list[Damage]:
    """Return a list with one `Damage` if the file is shorter than its header says, otherwise an empty list.

    Call this before the file is opened, because SQLite reads a missing last page as zeros. If the file has a
    write-ahead log, return an empty list: the last pages may still be in the log.
    """
    with suppress(OSError):
        header, size = first_bytes(path.resolve(), 32), path.stat().st_size
        if header is None or log_bytes(path.resolve()):
            return []
        page_size, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
        if size < pages * page_size:
            return [Damage(ITS_END, (ENDS_EARLY.format(found=size // page_size, pages=pages),))]
    return []


def foreign_schema(tx: Transaction) -> list[Damage]:
    """Return a list with one `Damage` if a person has changed the schema, otherwise an empty list. The schema is
    compared with the schema that the migrations create.
    """
    application_id = tx.value("PRAGMA application_id")
    kind = next((each for each in (PLATFORM, COMPANY) if each.application_id == application_id), None)
    found = "" if kind is None else foreign_parts(tx, kind)
    return [Damage(THE_SCHEMA, (NOT_MADE_BY_WMSD.format(parts=found),))] if found else []


def damages(tx: Transaction) -> list[Damage]:
    """Return all damage in the file.

    If a check of the whole file finds damage, check each table separately.
    """
    said = _messages(tx, "PRAGMA integrity_check")
    found: dict[str, list[str]] = defaultdict(list)
    if said:
        for place, message in _by_table(tx) or [(THE_FILE, each) for each in said]:
            found[place].append(message)
    return [Damage(place, tuple(messages[:MOST_MESSAGES])) for place, messages in found.items()]


def _by_table(tx: Transaction) -> list[tuple[str, str]]:
    names = _names(tx)
    return [
        (_place(message, names, table), message)
        for table in ("sqlite_schema", *tables(tx))
        for message in messages_of_table(tx, table)
    ]


def messages_of_table(tx: Transaction, table: str) -> list[str]:
    """Return SQLite's messages about the damage of one table.

    A table and each of its indexes is a tree of pages. If SQLite reports a damaged tree, return only such reports.
    In this case, SQLite's other messages are misleading: a row that it cannot read in one tree looks like a
    missing row in all other trees.

    All reports about trees are in the first row of the check's result. Only this row is read for them, because an
    error in a later row ends the check without a result.
    """
    trees = [each for each in _messages(tx, TREES_OF_A_TABLE, (table,)) if OF_A_TREE.match(each)]
    return trees or _messages(tx, A_TABLE, (table,))


def _messages(tx: Transaction, statement: str, parameters: tuple[str, ...] = ()) -> list[str]:
    """Run a check, and return SQLite's messages. If an error ends the check, the error is the last message. The
    message "ok" is left out.
    """
    said: list[str] = []
    try:
        for (text,) in tx.execute(statement, parameters):
            said += text.split("\n")
    except UNREADABLE as error:
        if isinstance(error, sqlite3.Error) and is_delay(error):
            raise
        said.append(str(error) or type(error).__name__)
    return [line for line in said if line != "ok" and not line.startswith("***")]


def _names(tx: Transaction) -> dict[str | None, str]:
    """Return the name of the table or index that each tree of pages belongs to. The key is the number of the
    tree's root page, or None for the list of free pages. A name is missing if its schema entry cannot be read.
    """
    names: dict[str | None, str] = {None: THE_FREE_LIST, "1": THE_SCHEMA}
    with suppress(*UNREADABLE):
        for root, kind, name, table in tx.execute(ROOTS):
            names[str(root)] = _index(name, table) if kind == "index" else IN_TABLE.format(table=name)
    return names


def tables(tx: Transaction) -> list[str]:
    """Return the names of the tables. If the schema cannot be read, return an empty list."""
    with suppress(*UNREADABLE):
        return [name for (name,) in tx.rows(TABLES)]
    return []


def _index(name: str, table: str) -> str:
    return IN_INDEX.format(index=name, table=table)


def _place(message: str, names: dict[str | None, str], table: str) -> str:
    tree, index = OF_A_TREE.match(message), OF_AN_INDEX.search(message)
    if tree is not None and tree[1] in names:
        return names[tree[1]]
    if index is not None:
        return _index(index[1], table)
    return THE_SCHEMA if table == "sqlite_schema" else IN_TABLE.format(table=table)
