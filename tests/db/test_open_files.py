"""How many companies' files stay open, and which are closed first."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db import open_files
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.open_files import CONNECTION_BYTES, SLACK, UNUSED_SECONDS, FileBounds
from wmsd.db.transaction import Transaction


class Files(CompanyFiles):
    def __init__(self, folder: Path) -> None:
        self.steered = SteeredClock()
        super().__init__(folder, OrderedClock(self.steered), CountedIds(), {})
        for number in range(1, 41):
            self.create(number)

    async def use(self, *companies: int) -> None:
        """Reads them, a second apart."""
        for company in companies:
            self.steered.advance(1)
            assert await (await self.get(company)).read(lambda tx: tx.value("SELECT 1")) == 1

    @property
    def are_open(self) -> set[int]:
        return {int(each.path.stem) for each in self.databases if each.is_open}

    async def closings_are_over(self) -> None:
        while self.open._closing is not None:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.001)


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[Files]:
    (tmp_path / "companies").mkdir()
    files = Files(tmp_path / "companies")
    yield files
    await files.close()


async def test_a_company_that_is_used_now_and_then_has_one_connection(files: Files) -> None:
    await files.use(1, 2, 1)
    await (await files.get(1)).write(lambda tx: tx.value("SELECT 1"))
    await files.use(1)
    assert (files.open.connections, len(files.open)) == (2, 2)


async def test_those_that_were_not_used_for_longest_are_closed_first(files: Files) -> None:
    files.open.bounds = FileBounds(connections=4)
    await files.use(1, 2, 3, 4, 1, 3, 5)
    assert files.are_open == {4, 1, 3, 5}
    await files.use(2)
    assert files.are_open == {1, 3, 5, 2}


async def test_the_limit_of_file_descriptors_holds_too(files: Files) -> None:
    files.open.bounds = FileBounds(connections=100, descriptors=10)
    await files.use(*range(1, 20))
    assert files.are_open == {17, 18, 19}, "three of each, and one for the files' folder"


async def test_some_are_closed_ahead_so_that_nobody_waits(files: Files) -> None:
    files.open.bounds = FileBounds(connections=2 * SLACK)
    await files.use(*range(1, 2 * SLACK + 1))
    await files.closings_are_over()
    assert len(files.are_open) == 2 * SLACK - 2
    assert files.are_open == set(range(3, 2 * SLACK + 1))


async def test_many_at_once_are_never_more_than_may_be(files: Files) -> None:
    files.open.bounds = FileBounds(connections=5)
    most = 0

    def read(tx: Transaction) -> int:
        nonlocal most
        most = max(most, files.open.connections)
        return tx.value("SELECT 1")  # type: ignore[no-any-return]

    async def use(company: int) -> int:
        return await (await files.get(company)).read(read)

    assert await asyncio.gather(*(use(1 + number % 40) for number in range(200))) == [1] * 200
    assert most <= 7, "a read may find its file closed again before it begins, and open a connection of its own"


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


def test_half_of_the_memory_is_for_connections() -> None:
    assert FileBounds.within(200 * CONNECTION_BYTES, 10_000) == FileBounds(100, 10_000)
    assert FileBounds.within(0, 10_000).connections == 1
