"""Tests of how many companies' files stay open, and which are closed first."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.base.problems import Problem
from wmsd.db.engine import inline_reader, loop_connection, raw_files, sqlite
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files import company_file, open_files
from wmsd.db.files.company_files import CompanyFiles
from wmsd.db.files.open_files import (
    CONNECTION_BYTES,
    LEAST_CONNECTIONS,
    LEAST_DESCRIPTORS,
    SLACK,
    UNUSED_SECONDS,
    FileBounds,
)
from wmsd.db.migrations import CheckedFile, open_checked


class Files(CompanyFiles):
    def __init__(self, folder: Path) -> None:
        self.steered = SteeredClock()
        super().__init__(folder, OrderedClock(self.steered), CountedIds(), {})

    async def use(self, *companies: int) -> None:
        """Read the companies, one second apart."""
        for company in companies:
            self.steered.advance(1)
            assert await (await self.get(company)).read(lambda tx: tx.value("SELECT 1")) == 1

    @property
    def are_open(self) -> set[int]:
        return {int(each.path.stem) for each in self.databases if each.is_open}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the files of 40 companies, for each test to copy."""
    folder = tmp_path_factory.mktemp("companies")
    files = Files(folder)
    for number in range(1, 41):
        files.create(number, f"C{number}")
    return folder


@pytest.fixture
async def files(tmp_path: Path, made: Path) -> AsyncIterator[Files]:
    files = Files(shutil.copytree(made, tmp_path / "companies"))
    yield files
    await files.close()


async def test_a_company_that_is_used_now_and_then_has_one_connection(files: Files) -> None:
    await files.use(1, 2, 1)
    await (await files.get(1)).write(lambda tx: tx.value("SELECT 1"))
    await files.use(1)
    assert (files.open.connections, len(files.open)) == (2, 2)


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each newly opened file is added."""
    found: list[str] = []

    def note(path: Path) -> None:
        found.append(path.name)
        raw_files.note_opened(path)

    monkeypatch.setattr(sqlite, "note_opened", note)
    return found


async def test_its_first_use_opens_a_file_once(files: Files, openings: list[str]) -> None:
    await files.use(1)
    await (await files.get(1)).write(lambda tx: tx.value("SELECT 1"))
    assert openings == ["1.db"]


async def test_those_who_come_first_together_open_a_file_once(files: Files, openings: list[str]) -> None:
    databases = await asyncio.gather(*(files.get(1) for _ in range(20)))
    assert len(set(databases)) == 1
    assert openings == ["1.db"]


async def test_who_comes_while_the_look_ends_gets_the_same_database(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller who comes when the check ends gets the same database.

    Two databases would each write the log back, and each would take the other for another program.
    """
    has_looked, goes_on = asyncio.Event(), asyncio.Event()
    run = asyncio.get_running_loop().run_in_executor

    async def look_and_wait(executor: Any, look: Any) -> Any:
        found = await run(executor, look)
        has_looked.set()
        await goes_on.wait()
        return found

    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", look_and_wait)
    first = asyncio.ensure_future(files.get(1))
    await has_looked.wait()
    second = asyncio.ensure_future(files.get(1))
    await asyncio.sleep(0)
    goes_on.set()
    assert await first is await second
    assert files.open.connections == 1


async def test_a_file_that_is_only_looked_at_is_closed_again(files: Files) -> None:
    assert await files.file(1).can_be_used()
    assert (files.open.connections, files.are_open) == (0, set())
    with connect(files.path(1), alone=True) as connection:
        assert connection.execute("SELECT count(*) FROM articles").fetchone() == (0,)


async def test_a_file_that_was_left_with_a_log_is_served_whole(files: Files) -> None:
    """A file that has a log, as after a power cut, is served whole.

    The existing log is written back before another begins.
    """
    path = files.path(1)
    with connect(path) as connection:
        connection.execute("UPDATE change_sequence SET value = 41")
        left = {each: each.read_bytes() for each in (path, path.with_name("1.db-wal"))}
    connection.close()
    for each, content in left.items():
        each.write_bytes(content)
    database = await files.get(1)
    assert await database.read(lambda tx: tx.value("SELECT value FROM change_sequence")) == 41


async def test_a_file_that_is_replaced_during_its_first_look_is_looked_at_anew(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced during its first check is checked again. Later writes go to the new file."""

    def open_and_replace(*arguments: Any) -> CheckedFile:
        monkeypatch.undo()
        checked = open_checked(*arguments)
        copy = files.path(1).with_name("copy")
        copy.write_bytes(files.path(1).read_bytes())
        copy.rename(files.path(1))
        return checked

    monkeypatch.setattr(company_file, "open_checked", open_and_replace)
    database = await files.get(1)
    await database.write(lambda tx: tx.execute("UPDATE change_sequence SET value = 7"))
    with connect(files.path(1), read_only=True) as connection:
        assert connection.execute("SELECT value FROM change_sequence").fetchone() == (7,)


async def test_those_that_were_not_used_for_longest_are_closed_first(files: Files) -> None:
    files.open.bounds = FileBounds(connections=4)
    await files.use(1, 2, 3, 4, 1, 3, 5)
    assert files.are_open == {4, 1, 3, 5}
    await files.use(2)
    assert files.are_open == {1, 3, 5, 2}


async def test_a_file_with_several_connections_first_loses_those_that_only_read(files: Files) -> None:
    files.open.bounds = FileBounds(connections=6)
    await files.use(1, 2, 3)
    database = await files.get(1)
    assert await database.read_long(lambda tx: tx.value("SELECT 1")) == 1
    assert await database.search(lambda tx: tx.value("SELECT 1")) == 1
    await files.use(2, 3, 4)
    assert (database.connections, files.open.connections) == (3, 6)
    await files.use(5)
    assert (files.are_open, database.connections) == ({1, 2, 3, 4, 5}, 1)
    await files.use(6, 7)
    assert files.are_open == {2, 3, 4, 5, 6, 7}


async def test_a_round_through_all_files_pushes_out_one_at_the_most(files: Files) -> None:
    files.open.bounds = FileBounds(connections=4)
    await files.use(1, 2, 3, 4)
    seen: list[Path] = []

    async def look(database: Database) -> None:
        assert database.is_open
        seen.append(database.path)

    for company in range(1, 41):
        await files.visit(company, look)
    assert seen == [files.path(company) for company in range(1, 41)]
    assert files.are_open == {2, 3, 4}


async def test_a_file_without_a_writer_is_closed_whole(files: Files) -> None:
    files.open.bounds = FileBounds(connections=3)
    await files.use(1)
    database = await files.get(1)
    await database.close()
    assert await database.read_long(lambda tx: tx.value("SELECT 1")) == 1
    assert await database.search(lambda tx: tx.value("SELECT 1")) == 1
    assert (database.connections, database.can_close_readers) == (2, False)
    await files.use(2, 3)
    assert files.are_open == {2, 3}


async def test_the_limit_of_file_descriptors_holds_too(files: Files) -> None:
    files.open.bounds = FileBounds(connections=100, descriptors=10)
    await files.use(*range(1, 20))
    assert files.are_open == {17, 18, 19}, "three of each, and one for the files' folder"


async def test_some_are_closed_ahead_so_that_nobody_waits(files: Files) -> None:
    files.open.bounds = FileBounds(connections=2 * SLACK)
    await files.use(*range(1, 2 * SLACK + 1))
    await files.open.close()
    assert len(files.are_open) == 2 * SLACK - 2
    assert files.are_open == set(range(3, 2 * SLACK + 1))


async def test_many_at_once_are_never_more_than_may_be(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    # otherwise a slow read opens another connection
    monkeypatch.setattr(loop_connection, "MOMENT_SECONDS", 60)
    monkeypatch.setattr(inline_reader, "TURN_SECONDS", 60)
    files.open.bounds = FileBounds(connections=5)
    most = 0

    def read(tx: Transaction) -> int:
        nonlocal most
        most = max(most, files.open.connections)
        found: int = tx.value("SELECT 1")
        return found

    async def use(company: int) -> int:
        return await (await files.get(company)).read(read)

    assert await asyncio.gather(*(use(1 + number % 40) for number in range(200))) == [1] * 200
    assert most == 5


async def test_when_all_stay_in_use_one_more_is_opened_after_a_while(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "WAIT_SECONDS", 0.05)
    files.open.bounds = FileBounds(connections=2)
    may_end = threading.Event()
    databases = [await files.get(company) for company in (1, 2)]
    long = [asyncio.ensure_future(each.write(lambda _: may_end.wait(20))) for each in databases]
    await asyncio.sleep(0)
    await files.use(3)
    assert files.are_open == {1, 2, 3}
    may_end.set()
    assert await asyncio.gather(*long) == [True, True]


async def test_unused_files_are_closed_and_open_again(files: Files) -> None:
    await files.use(*range(1, 21))
    files.steered.advance(UNUSED_SECONDS - 10)
    await files.use(5, 6)
    await files.close_unused()
    assert files.are_open == {*range(12, 21), 5, 6}
    files.steered.advance(UNUSED_SECONDS + 1)
    await files.close_unused()
    assert (files.are_open, files.open.connections, len(files.open)) == (set(), 0, 0)
    await files.use(7)
    assert files.are_open == {7}


async def test_a_file_in_use_is_not_closed_although_it_was_asked_for_long_ago(files: Files) -> None:
    may_end = threading.Event()
    database: Database = await files.get(1)
    long = asyncio.ensure_future(database.write(lambda _: may_end.wait(20)))
    await asyncio.sleep(0)
    files.steered.advance(UNUSED_SECONDS * 2)
    await files.close_unused()
    assert files.are_open == {1}
    may_end.set()
    await long


def test_three_quarters_of_the_memory_are_for_connections() -> None:
    assert FileBounds.within(200 * CONNECTION_BYTES, 10_000) == FileBounds(150, 10_000)
    assert FileBounds.within(0, -10) == FileBounds(LEAST_CONNECTIONS, LEAST_DESCRIPTORS)


async def test_a_file_is_opened_once_for_all_who_ask(files: Files) -> None:
    files.open.bounds = FileBounds(connections=32)
    await files.use(*range(1, 31))
    before = files.are_open

    async def use_another() -> int:
        return await (await files.get(40)).read(lambda tx: tx.value("SELECT 1"))

    assert await asyncio.gather(*(use_another() for _ in range(100))) == [1] * 100
    await files.open.close()
    assert len(before - files.are_open) <= 3, "one that is needed, and those that are closed ahead"


async def test_clients_who_go_away_leave_no_file_open(files: Files) -> None:
    files.open.bounds = FileBounds(connections=10)
    await files.use(*range(1, 11))
    for company in range(11, 40):
        asking = asyncio.ensure_future(files.get(company))
        for _ in range(company % 5):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
    await files.open.close()
    assert len(files.open) == len(files.are_open) == files.open.connections <= 10
    files.steered.advance(UNUSED_SECONDS + 1)
    await files.close_unused()
    assert (files.are_open, files.open.connections) == (set(), 0)


async def test_one_that_is_busy_keeps_no_other_open(files: Files) -> None:
    await files.use(*range(1, 12))
    going_on = threading.Event()
    long = [
        asyncio.ensure_future((await files.get(company)).write(lambda _: going_on.wait(20)))
        for company in range(1, 9)
    ]
    await asyncio.sleep(0.05)
    files.steered.advance(UNUSED_SECONDS + 1)
    await files.close_unused()
    assert files.are_open == set(range(1, 9))
    going_on.set()
    await asyncio.gather(*long)


async def test_a_file_that_was_replaced_while_it_was_closed_is_checked(files: Files) -> None:
    await files.use(1, 2)
    files.steered.advance(UNUSED_SECONDS + 1)
    await files.close_unused()
    files.path(2).unlink()
    with connect(files.path(2), create=True) as other:
        other.execute("CREATE TABLE other (id)")
    other.close()
    with pytest.raises(Problem):
        await files.get(2)
    assert list(files.failed) == [2]
    await files.use(1)


async def test_a_backup_that_took_the_place_of_a_closed_file_is_served(files: Files) -> None:
    await files.use(1)
    files.steered.advance(UNUSED_SECONDS + 1)
    await files.close_unused()
    backup = files.path(1).with_name("backup")
    backup.write_bytes(files.path(1).read_bytes())
    backup.rename(files.path(1))
    files._alone = True
    await files.use(1)
    assert list(files.written_elsewhere([])) == [1], "webhooks may be due in it"


async def test_what_a_deleted_file_held_is_kept_when_there_is_no_room_for_it(files: Files) -> None:
    files.open.bounds = FileBounds(connections=2)
    await files.use(1)
    await (await files.get(1)).write(lambda tx: tx.execute("INSERT INTO series (name, last) VALUES ('A', 7)"))
    files.path(1).unlink()
    await files.use(2, 3, 4)
    await files.file(1).close()
    assert list(files.failed) == [1]
    (kept,) = files.folder.glob("1.db.removed-*")
    copy = connect(kept)
    assert copy.execute("SELECT last FROM series WHERE name = 'A'").fetchone() == (7,)
    copy.close()
