"""Tests of units of work: each is done whole or not at all, together without harming each other, and synced before
the answer.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.steering import CountedIds, SteeredClock
from tests.support.threads import no_threads_beside
from wmsd.base.clock import OrderedClock
from wmsd.base.machine.thread_results import call_on_loop
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import OutcomeUnknown
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.unit_of_work import begin, commit
from wmsd.db.migrations import COMPANY, create_file

ADD = "INSERT INTO clients (code, name, active, created_at, updated_at) VALUES (?, 'x', 1, '', '')"
CODES = "SELECT code FROM clients ORDER BY id"


def add(tx: Transaction, code: str) -> int:
    return tx.insert(ADD, (code,))


async def codes(database: Database) -> list[str]:
    return [row[0] for row in await database.read(lambda tx: tx.rows(CODES))]


class Refused(Exception):
    pass


def add_then_refuse(tx: Transaction) -> None:
    tx.insert(ADD, ("refused",))
    raise Refused


async def test_what_a_unit_raises_undoes_it_alone(database: Database) -> None:
    results = await asyncio.gather(
        database.write(lambda tx: tx.insert(ADD, ("a",))),
        database.write(add_then_refuse),
        database.write(lambda tx: tx.insert(ADD, ("b",))),
        return_exceptions=True,
    )
    assert isinstance(results[1], Refused)
    assert await codes(database) == ["a", "b"]


async def test_what_waits_shares_one_commit(database: Database) -> None:
    await database.write(lambda tx: None)
    commits = 0

    def committed() -> None:
        nonlocal commits
        commits += 1

    database.after_commit = committed
    await asyncio.gather(*(database.write(lambda tx: tx.insert(ADD, (tx.ids.unique(),))) for _ in range(50)))
    assert len(await codes(database)) == 50
    assert commits < 25


async def test_a_cancelled_waiter_leaves_no_open_transaction(database: Database) -> None:
    before = set(threading.enumerate())
    waiter = asyncio.ensure_future(database.write(lambda tx: tx.insert(ADD, ("cancelled",))))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    await database.write(lambda tx: tx.insert(ADD, ("after",)))
    assert "after" in await codes(database)
    await database.close()
    # one read was cancelled while it opened the file, and reports that to the loop
    await no_threads_beside(before)


async def test_cancelling_at_random_keeps_every_unit_whole(database: Database) -> None:
    def pair(code: str) -> Callable[[Transaction], None]:
        def unit(tx: Transaction) -> None:
            tx.insert(ADD, (f"{code}-1",))
            tx.insert(ADD, (f"{code}-2",))

        return unit

    waiters = [asyncio.ensure_future(database.write(pair(str(place)))) for place in range(60)]
    for place, waiter in enumerate(waiters):
        if place % 3 == 0:
            waiter.cancel()
        if place % 7 == 0:
            await asyncio.sleep(0.001)
    await asyncio.gather(*waiters, return_exceptions=True)
    found = await codes(database)
    assert {code.partition("-")[0] for code in found if code.endswith("-1")} == {
        code.partition("-")[0] for code in found if code.endswith("-2")
    }
    done = {str(place) for place in range(60) if not waiters[place].cancelled()}
    assert done <= {code.partition("-")[0] for code in found}


async def test_an_answered_write_is_seen_by_the_next_read(database: Database) -> None:
    for place in range(30):
        await database.write(partial(add, code=str(place)))
        reads = await asyncio.gather(*(codes(database) for _ in range(8)))
        assert all(len(found) == place + 1 for found in reads)


async def test_an_answered_write_is_in_the_file(database: Database) -> None:
    await database.write(lambda tx: tx.insert(ADD, ("kept",)))
    other = connect(database.path, read_only=True)
    assert other.execute(CODES).fetchall() == [("kept",)]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await database.read(lambda tx: tx.insert(ADD, ("no",)))
    assert await codes(database) == []


async def test_a_closed_database_opens_again_when_it_is_used(database: Database) -> None:
    await database.write(lambda tx: tx.insert(ADD, ("a",)))
    await database.close()
    assert not database.is_open
    assert await codes(database) == ["a"]
    assert database.is_open


async def test_the_change_sequence_grows_whatever_the_clock_does(tmp_path: Path) -> None:
    path = tmp_path / "2.db"
    create_file(path, COMPANY)
    clock = SteeredClock()
    database = Database(path, OrderedClock(clock), CountedIds())
    places = []
    for step in (0, 5, -3600, 1, 7200, -86400):
        clock.advance(step) if step >= 0 else clock.set_back(-step)
        places.append(await database.write(lambda tx: tx.next_changes(3)[0]))
    await database.close()
    assert places == sorted(places)
    assert all(later - earlier >= 3 for earlier, later in pairwise(places))


@pytest.mark.parametrize("kind", ["write", "read_long"])
async def test_what_comes_while_the_thread_ends_is_done_too(database: Database, kind: str) -> None:
    """Work that arrives while the thread ends is done too.

    The thread has seen that nothing waits, but the loop does not know yet that the thread is idle.
    """
    submit = getattr(database, kind)
    await submit(lambda tx: None)
    ran = threading.Event()
    first = asyncio.ensure_future(submit(lambda tx: ran.set()))
    await asyncio.sleep(0)
    ran.wait(5)
    time.sleep(0.05)  # noqa: ASYNC251  # the loop is blocked, and the thread reaches its end
    second = asyncio.ensure_future(submit(lambda tx: "done"))
    async with asyncio.timeout(5):
        await first
        assert await second == "done"


@pytest.mark.parametrize("statement", ["BEGIN", "BEGIN IMMEDIATE"])
def test_a_transaction_that_was_left_open_is_closed_before_the_next(database: Database, statement: str) -> None:
    """A transaction that was left open is closed before the next one.

    Memory may run out between two statements.
    """
    connection = connect(database.path)
    connection.execute("BEGIN")
    connection.execute("SELECT * FROM articles")
    begin(connection, statement)
    connection.execute("COMMIT")
    connection.close()


class OutOfMemoryAfterCommit(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)
        if sql == "COMMIT":
            raise MemoryError
        return cursor


def test_what_was_committed_without_memory_to_say_so_is_not_refused(database: Database) -> None:
    connection = sqlite3.connect(database.path, factory=OutOfMemoryAfterCommit, isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("PRAGMA user_version = 77")
    with pytest.raises(OutcomeUnknown):
        commit(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == (77,)
    connection.close()


async def test_who_waits_hears_as_soon_as_there_is_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, refusals = asyncio.get_running_loop(), [MemoryError, MemoryError]

    def short_of_memory(function: Callable[..., object], *arguments: object) -> object:
        if refusals:
            raise refusals.pop()
        return call_soon_threadsafe(function, *arguments)

    call_soon_threadsafe, heard = loop.call_soon_threadsafe, loop.create_future()
    monkeypatch.setattr(loop, "call_soon_threadsafe", short_of_memory)
    await asyncio.to_thread(call_on_loop, loop, heard.set_result, "it")
    assert await heard == "it"
    assert not refusals
