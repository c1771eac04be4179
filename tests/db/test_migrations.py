"""Tests of file headers: a header shows whether a file has this program's schema, and never confirms a file
without it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, PLATFORM, create_file, is_current


@pytest.fixture
def file(tmp_path: Path) -> Path:
    create_file(tmp_path / "1.db", COMPANY)
    return tmp_path / "1.db"


def execute(path: Path, sql: str) -> None:
    connection = connect(path)
    connection.execute(sql)
    connection.close()


def test_a_new_file_is_current(file: Path) -> None:
    assert is_current(file, COMPANY)
    execute(file, "INSERT INTO clients (code, name, active, created_at, updated_at) VALUES ('C', 'C', 1, '', '')")
    assert is_current(file, COMPANY)


def older(path: Path) -> None:
    execute(path, "PRAGMA user_version = 3")


def newer(path: Path) -> None:
    execute(path, "PRAGMA user_version = 9999")


def of_another_kind(path: Path) -> None:
    path.unlink()
    create_file(path, PLATFORM)


def of_another_program(path: Path) -> None:
    execute(path, "PRAGMA application_id = 1")


def without_a_log(path: Path) -> None:
    execute(path, "PRAGMA journal_mode = DELETE")


def with_a_log_beside_it(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"more")


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def with_a_tail(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def noise(path: Path) -> None:
    path.write_bytes(b"noise" * 1000)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def with_a_journal_beside_it(path: Path) -> None:
    path.with_name(f"{path.name}-journal").write_bytes(b"hot")


def a_link_to_one_with_a_log(path: Path) -> None:
    target = path.with_name("elsewhere.db")
    path.rename(target)
    path.symlink_to(target)
    with_a_log_beside_it(target)


OTHERS = (
    *(with_a_journal_beside_it, a_link_to_one_with_a_log),
    *(older, newer, of_another_kind, of_another_program, without_a_log, with_a_log_beside_it),
    *(cut_short, with_a_tail, empty, noise, a_pipe, Path.unlink),
)


@pytest.mark.parametrize("change", OTHERS, ids=lambda change: change.__name__)
def test_what_is_otherwise_is_not_current(file: Path, change: Callable[[Path], object]) -> None:
    change(file)
    assert not is_current(file, COMPANY)
