"""Counts the SQL statements that units of work run in the company's file."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from tests.support.world import World
from wmsd.db.engine import inline_reader, loop_connection
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction

METHODS = ("execute", "executemany", "row", "rows", "value", "record", "records", "insert")


@contextmanager
def statements(world: World) -> Iterator[list[str]]:
    """Add each statement to the list when it runs.

    A slow read is normally stopped, and started again on a thread. Here it is not, so each statement counts once.
    """
    file = world.installation.files.path(world.company)
    found: list[str] = []

    @cache
    def is_of_the_company(connection: sqlite3.Connection) -> bool:
        return str(connection.execute("PRAGMA database_list").fetchone()[2]) == str(file.resolve())

    def counting(method: Any) -> Any:
        def counted(tx: Transaction, sql: str, *given: Any) -> Any:
            if is_of_the_company(tx._connection) and not sql.startswith("PRAGMA data_version"):
                found.append(sql)
            return method(tx, sql, *given)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_connection, "MOMENT_SECONDS", 60)
        patch.setattr(inline_reader, "TURN_SECONDS", 60)
        for name in METHODS:
            patch.setattr(Transaction, name, counting(getattr(Transaction, name)))
        yield found
