"""Deleting a record removes it from the search index, at the same cost in a small and in a large company."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.sqlite_steps import counted_steps
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.migrations import COMPANY, create_file
from wmsd.warehouse.search.search_kinds import RECORDS, SearchKind

OTHERS = """
    WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
    INSERT INTO search_entries (number, kind, key, digest) SELECT n, ?, n, n FROM numbers
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create_file(tmp_path / "1.db", COMPANY)
    with closing(connect(tmp_path / "1.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield connection


def fill(file: sqlite3.Connection, kind: SearchKind) -> None:
    """Create the record 1 of the kind, with 1 in each column that needs a value."""
    needed = file.execute('SELECT name FROM pragma_table_info(?) WHERE pk OR "notnull"', (kind.table,))
    columns = [name for (name,) in needed]
    ones = ", ".join("1" for _ in columns)
    file.execute(f"INSERT INTO {kind.table} ({', '.join(columns)}) VALUES ({ones})")
    file.execute("INSERT INTO search_entries (number, kind, key, digest) VALUES (1, ?, 1, 1)", (kind.name,))
    file.execute("INSERT INTO search_index (rowid, text) VALUES (1, 'found')")


def delete(file: sqlite3.Connection, kind: SearchKind) -> int:
    """Delete the record 1, and return SQLite's steps."""
    with counted_steps(file) as steps:
        file.execute(f"DELETE FROM {kind.table} WHERE id = 1")
    return steps.counted


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.name)
def test_a_deleted_record_leaves_the_index_without_a_look_at_the_others(
    file: sqlite3.Connection, kind: SearchKind
) -> None:
    fill(file, kind)
    alone = delete(file, kind)
    assert file.execute(
        "SELECT (SELECT count(*) FROM search_entries), (SELECT count(*) FROM search_index)"
    ).fetchone() == (0, 0)
    file.execute(OTHERS, (kind.name,))
    fill(file, kind)
    assert delete(file, kind) < 2 * alone
    assert file.execute("SELECT count(*) FROM search_entries").fetchone() == (999,)
