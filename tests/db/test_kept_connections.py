"""Tests of what can still be read while no connection can be opened."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.shortage import no_more_files
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine import file_connections, inline_reader
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.worker_threads import Workers
from wmsd.db.migrations import COMPANY, create_file


def one(tx: Transaction) -> object:
    return tx.value("SELECT 1")


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(file_connections, "_opened", refuse)


async def test_a_file_that_is_opened_keeps_a_connection_for_long_reads(
    database: Database, request: pytest.FixtureRequest
) -> None:
    await database.open()
    request.getfixturevalue("no_connection")
    assert await database.read_long(one) == 1


async def test_it_has_one_again_after_it_was_lent(database: Database, request: pytest.FixtureRequest) -> None:
    await database.open()
    await database.lend()
    await database.take_back()
    request.getfixturevalue("no_connection")
    assert await database.read_long(one) == 1


async def test_without_another_connection_a_read_waits_for_the_one_there_is(
    database: Database, request: pytest.FixtureRequest
) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def long(_: Transaction) -> str:
        begun.set()
        goes_on.wait(20)
        return "done"

    first = asyncio.ensure_future(database.read_long(long))
    await asyncio.to_thread(begun.wait)
    await asyncio.sleep(0.05)  # after this time the read counts as long
    request.getfixturevalue("no_connection")
    second = asyncio.ensure_future(database.read_long(one))
    await asyncio.sleep(0.05)
    assert not second.done()
    goes_on.set()
    assert (await first, await second) == ("done", 1)


@pytest.mark.usefixtures("no_connection")
async def test_without_any_connection_it_fails(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await database.read_long(one)


@pytest.fixture
async def database_of_a_company(tmp_path: Path) -> AsyncIterator[Database]:
    """Open a database as companies have it: reads use the writer's connection, or open a separate one."""
    path = tmp_path / "company.db"
    create_file(path, COMPANY)
    workers = Workers()
    database = Database(path, OrderedClock(SteeredClock()), CountedIds(), workers=workers)
    await database.open()
    yield database
    await database.close()
    workers.close()


async def test_while_no_file_can_be_opened_a_quick_read_waits_for_the_writer(
    database_of_a_company: Database,
) -> None:
    goes_on = threading.Event()
    with no_more_files():
        writing = asyncio.ensure_future(database_of_a_company.write(lambda _: goes_on.wait(20)))
        await asyncio.sleep(0.01)
        reading = [asyncio.ensure_future(database_of_a_company.read(one)) for _ in range(3)]
        await asyncio.sleep(5 * inline_reader.PATIENCE_SECONDS)
        assert not any(each.done() for each in reading)
        goes_on.set()
        assert [await each for each in reading] == [1, 1, 1]
        assert await writing


async def test_a_quick_read_does_not_wait_for_the_writer_if_another_connection_reads(
    database_of_a_company: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline_reader, "SHORTAGE_SECONDS", 60.0)
    assert await database_of_a_company.read_long(one) == 1
    goes_on = threading.Event()
    with no_more_files():
        writing = asyncio.ensure_future(database_of_a_company.write(lambda _: goes_on.wait(20)))
        await asyncio.sleep(0.01)
        assert await database_of_a_company.read(one) == 1
        assert not writing.done()
        goes_on.set()
        assert await writing


async def test_a_read_does_not_wait_without_end_for_the_writer(
    database_of_a_company: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline_reader, "SHORTAGE_SECONDS", 0.1)
    goes_on = threading.Event()
    with no_more_files():
        writing = asyncio.ensure_future(database_of_a_company.write(lambda _: goes_on.wait(20)))
        await asyncio.sleep(0.01)
        with pytest.raises(sqlite3.OperationalError, match="unable to open"):
            await asyncio.wait_for(database_of_a_company.read(one), 10)
    goes_on.set()
    assert await writing
    assert await database_of_a_company.read(one) == 1
