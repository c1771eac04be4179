"""Compares the schema of a file with the schema that the migrations create.

A file from outside may have additional tables, views or triggers. A trigger is a risk: it runs automatically, with
all rights of the program that writes to the file.
"""

import hashlib
from collections.abc import Iterable
from contextlib import closing
from typing import Final, NamedTuple

from wmsd.base.plurals import first_few
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction

READ: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 10000"
"""The statement that reads the schema. Its limit is much higher than the number of parts in any file."""
SCHEMA_TABLES: Final = ("sqlite_schema", "sqlite_master")
"""The two names of the schema table."""


class Part(NamedTuple):
    """A table, an index, a trigger or a view."""

    type: str
    name: str
    table: str
    sql: str | None
    """The SQL of the part. None for an index that SQLite has created for a table."""


MADE_BESIDE: Final = frozenset(
    Part("table", name, name, f"CREATE TABLE {name}{columns}")
    for name, columns in (
        ("sqlite_stat1", "(tbl,idx,stat)"),
        ("sqlite_stat4", "(tbl,idx,neq,nlt,ndlt,sample)"),
        ("_litestream_lock", " (id INTEGER)"),
        ("_litestream_seq", " (id INTEGER PRIMARY KEY, seq INTEGER)"),
    )
)
"""Tables that a file may have although no migration creates them: SQLite's statistics, and tables of Litestream.
"""


def restrict(connection: sqlite3.Connection) -> None:
    """Restrict a connection to reading the schema.

    The driver cannot switch off triggers and views. This function therefore makes SQLite refuse every statement
    that would use a table other than the schema table.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(_allowed)


def _allowed(action: int, subject: str | None, *_: str | None) -> int:
    reads_schema = action == sqlite3.SQLITE_READ and subject in SCHEMA_TABLES
    harmless = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if reads_schema or harmless else sqlite3.SQLITE_DENY


def made_by(statements: Iterable[str]) -> frozenset[Part]:
    """Run the statements in an empty database, and return the parts of its schema."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        return read(connection)


def read(of: sqlite3.Connection | Transaction) -> frozenset[Part]:
    """Return the parts of the schema. Raise sqlite3.Error if the file cannot be read."""
    return frozenset(Part(*row) for row in of.execute(READ)) - MADE_BESIDE


def digest(parts: frozenset[Part]) -> str:
    """Return a digest in hexadecimal that is the same for the same parts."""
    return hashlib.sha256(repr(sorted(parts, key=repr)).encode()).hexdigest()


def without_own_indexes(found: frozenset[Part], expected: frozenset[Part]) -> frozenset[Part]:
    """Return `found` without the indexes that are not in `expected`.

    An index that a person has added does not change the results of statements.
    """
    named = {part.name for part in expected}
    return frozenset(part for part in found if part.type != "index" or part.name in named)


def differences(found: frozenset[Part], expected: frozenset[Part]) -> str:
    """Return a text that names each part of the schema that differs. Return "" if there are no differences."""
    return ", ".join(first_few(sorted({f"{part.type} {part.name}" for part in found ^ expected})))
