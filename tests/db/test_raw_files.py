"""Tests of reading a file's bytes in such a way that SQLite's locks survive."""

import subprocess
import sys
from pathlib import Path

import pytest

from wmsd.db.engine.raw_files import first_bytes
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.migrations import COMPANY, create_file, is_current

WRITE = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('CREATE TABLE alien (a)')"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "1.db"
    create_file(path, COMPANY)
    return path


def can_be_written_by_another_process(path: Path) -> bool:
    return (
        subprocess.run([sys.executable, "-c", WRITE, str(path)], capture_output=True, check=False).returncode == 0
    )


def test_a_file_that_is_held_alone_stays_so_when_its_header_is_asked_for(path: Path) -> None:
    connection = connect(path, alone=True)
    connection.execute("SELECT count(*) FROM articles").fetchone()
    assert not is_current(path, COMPANY)
    assert first_bytes(path.resolve(), 16) is None
    assert not can_be_written_by_another_process(path)
    connection.close()
    assert is_current(path, COMPANY)
    assert can_be_written_by_another_process(path)


def test_a_file_counts_as_open_until_its_last_connection_is_closed(path: Path) -> None:
    several = [connect(path) for _ in range(3)]
    for connection in several:
        assert first_bytes(path.resolve(), 16) is None
        connection.close()
        connection.close()
    assert first_bytes(path.resolve(), 16) == b"SQLite format 3\0"


def test_a_name_that_leads_to_an_open_file_is_the_same_file(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    connection = connect(path)
    assert not is_current(link, COMPANY)
    connection.close()
    assert is_current(link, COMPANY)


def test_a_file_that_cannot_be_opened_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(sqlite3.Error):
        connect(path)
    path.write_bytes(b"not a database " * 1000)
    with pytest.raises(sqlite3.Error):
        connect(path)
    assert first_bytes(path.resolve(), 3) == b"not"
