"""Tests of what can still be read while no connection can be opened."""

import asyncio
import threading

import pytest

from wmsd.db.engine import file_connections
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction


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
