"""Tests of the number of a file's content: as long as the number stays, everything that is read stays the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.worker_threads import Workers
from wmsd.db.migrations import COMPANY, create_file

ADD = "INSERT INTO clients (code, name, active, created_at, updated_at) VALUES (?, '', 1, '', '')"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """Open a database exclusively, as a server opens the files of companies."""
    path, workers = tmp_path / "1.db", Workers()
    create_file(path, COMPANY)
    database = Database(path, OrderedClock(SteeredClock()), CountedIds(), alone=True, workers=workers)
    await database.open()
    yield database
    await database.close()
    workers.close()


def add(code: str, tx: Transaction) -> None:
    tx.execute(ADD, (code,))


def clients(tx: Transaction) -> int:
    found: int = tx.value("SELECT count(*) FROM clients")
    return found


async def test_it_stays_while_nothing_is_written(database: Database) -> None:
    before = database.state
    assert before is not None
    assert await database.read(clients) == 0
    assert database.state == before


async def test_each_commit_changes_it_before_anybody_is_told(database: Database) -> None:
    states = [database.state]
    for number in range(3):
        await database.write(partial(add, str(number)), is_quiet=number == 2)
        states.append(database.state)
    assert None not in states
    assert len(set(states)) == 4


async def test_there_is_none_from_the_request_of_a_write_on(database: Database) -> None:
    """There is no number from the request of a write on.

    Some callers may already see the commit, and later readers must not see less.
    """
    writing = asyncio.ensure_future(database.write(partial(add, "A")))
    await asyncio.sleep(0)
    assert database.state is None
    await writing
    assert database.state is not None


async def test_there_is_none_while_other_processes_may_write(database: Database) -> None:
    before = database.state
    await database.lend()
    await database.open_writer()
    assert database.state is None
    with closing(connect(database.path)) as other:
        other.execute(ADD, ("of another process",))
    await database.take_back()
    assert database.state is None
    assert await database.read(clients) == 1
    await database.open_writer()
    assert database.state not in (None, before)


async def test_a_file_that_was_closed_has_another(database: Database) -> None:
    before = database.state
    await database.close()
    assert database.state is None
    await database.open()
    assert database.state not in (None, before)


async def test_two_files_have_none_in_common(database: Database, tmp_path: Path) -> None:
    """Two files have no number in common, because one file may replace the other."""
    path, workers = tmp_path / "2.db", Workers()
    create_file(path, COMPANY)
    other = Database(path, OrderedClock(SteeredClock()), CountedIds(), alone=True, workers=workers)
    await other.open()
    assert other.state != database.state
    await other.close()
    workers.close()
