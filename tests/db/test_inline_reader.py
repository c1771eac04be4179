"""Tests of reads on the thread of the event loop: each is short, and never waits."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.open_files import open_files
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine import inline_reader, loop_turns
from wmsd.db.engine.database import Database
from wmsd.db.engine.inline_reader import CROWD
from wmsd.db.engine.loop_connection import MOMENT_SECONDS, STALL_SECONDS
from wmsd.db.engine.loop_turns import AT_ONCE_SECONDS, LONG_SECONDS
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.worker_threads import Workers
from wmsd.db.migrations import COMPANY, create_file

COUNT_TO = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT count(*) FROM n"
LONG = 1_000_000

pytestmark = pytest.mark.alone  # a quick read takes longer when others use the processor


@pytest.fixture(params=["its own connection", "the writer's connection"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Open a database with or without shared threads.

    With shared threads, reads use the connection that writes, as soon as that connection is open.
    """
    path = tmp_path / "1.db"
    create_file(path, COMPANY)
    workers = Workers()
    shared = request.param == "the writer's connection"
    database = Database(path, OrderedClock(SteeredClock()), CountedIds(), workers=workers if shared else None)
    if shared:
        await database.open()
    yield database
    await database.close()
    workers.close()


def count_and_thread(count: int, tx: Transaction) -> tuple[int, int]:
    return tx.value(COUNT_TO, (count,)), threading.get_ident()


async def test_a_quick_read_runs_on_the_loops_thread(database: Database) -> None:
    assert await database.read(lambda tx: count_and_thread(10, tx)) == (10, threading.get_ident())


async def turns_before(database: Database) -> list[str]:
    """Return the turns of the loop that pass before a quick read is answered: one or none."""
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "next")
    assert await database.read(lambda tx: count_and_thread(10, tx)) == (10, threading.get_ident())
    return turns


def two_reads(database: Database) -> "asyncio.Future[list[tuple[int, int]]]":
    return asyncio.gather(*(database.read(lambda tx: count_and_thread(10, tx)) for _ in range(2)))


async def test_a_quick_read_that_is_alone_in_its_turn_is_done_at_once(database: Database) -> None:
    for _ in range(2):
        await database.read(lambda tx: count_and_thread(10, tx))
        await asyncio.sleep(0)
    for _ in range(3):
        assert await turns_before(database) == []
        await asyncio.sleep(0)


async def test_after_a_turn_with_several_reads_a_quick_read_waits_for_others(database: Database) -> None:
    await two_reads(database)
    await asyncio.sleep(0)
    assert await turns_before(database) == ["next"]
    await asyncio.sleep(0)
    assert await turns_before(database) == []


async def test_while_turns_are_long_a_quick_read_is_done_at_once(database: Database) -> None:
    for _ in range(2):
        await two_reads(database)
        await asyncio.sleep(0)
    reading = two_reads(database)
    time.sleep(2 * LONG_SECONDS)  # noqa: ASYNC251  (a step that blocks the loop)
    await reading
    assert await turns_before(database) == []
    for _ in range(2):
        await asyncio.sleep(0)
        await two_reads(database)
    await asyncio.sleep(0)
    assert await turns_before(database) == ["next"], "they are short again"


async def test_whoever_reads_again_and_again_lets_others_through(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_turns, "LONG_SECONDS", -1.0)
    await database.read(lambda tx: count_and_thread(10, tx))
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "next")
    until = time.perf_counter() + 10 * AT_ONCE_SECONDS
    while not turns:
        await database.read(lambda tx: count_and_thread(10, tx))
        assert time.perf_counter() < until


async def test_a_long_read_is_done_whole_by_another_thread(database: Database) -> None:
    counted, thread = await database.read(lambda tx: count_and_thread(LONG, tx))
    assert counted == LONG
    assert thread != threading.get_ident()


async def test_quick_reads_are_answered_while_a_long_one_runs(database: Database) -> None:
    finished: list[str] = []

    async def read(name: str, count: int) -> None:
        assert (await database.read(lambda tx: count_and_thread(count, tx)))[0] == count
        finished.append(name)

    await asyncio.gather(read("long", LONG), read("quick", 10), read("quick", 20))
    assert finished == ["quick", "quick", "long"]


async def test_more_reads_than_a_turn_takes_are_all_answered(database: Database) -> None:
    numbers = range(1, 300)
    found = await asyncio.gather(
        *(database.read(partial(Transaction.value, sql=COUNT_TO, parameters=(n,))) for n in numbers)
    )
    assert found == list(numbers)


async def test_what_one_read_raises_is_its_own(database: Database) -> None:
    results = await asyncio.gather(
        database.read(lambda tx: tx.value("SELECT 1")),
        database.read(lambda tx: tx.value("SELECT nothing")),
        database.read(lambda tx: tx.value("SELECT 2")),
        return_exceptions=True,
    )
    assert (results[0], results[2]) == (1, 2)
    assert isinstance(results[1], sqlite3.OperationalError)


async def test_a_file_that_another_program_holds_is_waited_for_on_a_thread(database: Database) -> None:
    await database.close()
    holder = connect(database.path)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(database.read(lambda tx: count_and_thread(10, tx)))
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done
    holder.close()
    counted, thread = await waiting
    assert counted == 10
    assert thread != threading.get_ident()


async def test_closing_waits_for_reads_that_were_handed_over(database: Database) -> None:
    waiting = asyncio.ensure_future(database.read(lambda tx: count_and_thread(LONG, tx)))
    await asyncio.sleep(0)
    await database.close()
    assert (await waiting)[0] == LONG


async def test_a_cancelled_reader_disturbs_nobody(database: Database) -> None:
    cancelled = asyncio.ensure_future(database.read(lambda tx: count_and_thread(LONG, tx)))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert (await database.read(lambda tx: count_and_thread(10, tx)))[0] == 10


@pytest.fixture
def none_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every read wait for the next turn, also on a busy machine."""
    monkeypatch.setattr(loop_turns, "AT_ONCE_SECONDS", -1.0)


@pytest.mark.usefixtures("none_at_once")
async def test_a_read_that_nobody_waits_for_any_more_does_not_run(database: Database) -> None:
    ran: list[str] = []
    left = asyncio.ensure_future(database.read(lambda tx: ran.append("left")))
    left.cancel()
    await database.read(lambda tx: ran.append("waited for"))
    assert ran == ["waited for"]


async def test_a_file_that_is_no_database_fails_the_read(tmp_path: Path) -> None:
    path = tmp_path / "2.db"
    path.write_bytes(b"not a database" * 100)
    database = Database(path, OrderedClock(SteeredClock()), CountedIds())
    with pytest.raises(sqlite3.DatabaseError):
        await database.read(lambda tx: tx.value("SELECT 1"))
    await database.close()


async def test_a_read_cannot_write_and_a_write_can_after_it(database: Database) -> None:
    add = "INSERT INTO series (name, last) VALUES (?, 1)"
    count = "SELECT count(*) FROM series WHERE name LIKE 'own%'"
    with pytest.raises(sqlite3.DatabaseError, match=r"readonly database|a read has tried to write"):
        await database.read(lambda tx: tx.execute(add, ("own 1",)))
    assert await database.read(lambda tx: tx.value(count)) == 0
    assert await database.write(lambda tx: tx.execute(add, ("own 2",)).rowcount) == 1
    assert await database.read(lambda tx: tx.value(count)) == 1


async def test_a_write_waits_for_another_that_has_the_file_locked(database: Database) -> None:
    other = connect(database.path)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(database.write(lambda tx: tx.value("SELECT 1")))
    await asyncio.sleep(0.1)
    assert not writing.done()
    other.execute("ROLLBACK")
    other.close()
    assert await writing == 1


async def test_a_write_after_a_read_takes_as_long_as_it_needs(database: Database) -> None:
    for _ in range(3):
        assert await database.read(lambda tx: count_and_thread(10, tx)) == (10, threading.get_ident())
        assert (await database.write(lambda tx: count_and_thread(LONG, tx)))[0] == LONG


async def test_a_read_while_a_write_is_long_gets_a_connection_of_its_own(database: Database) -> None:
    may_end = threading.Event()
    writing = asyncio.ensure_future(database.write(lambda _: may_end.wait(20)))
    await asyncio.sleep(0.01)
    assert await database.read(lambda tx: count_and_thread(10, tx)) == (10, threading.get_ident())
    assert not writing.done()
    may_end.set()
    assert await writing
    assert len(open_files(database.path.parent)) == 5, "two for each connection, and one for the log's index"


@pytest.mark.parametrize("database", ["the writer's connection"], indirect=True)
async def test_a_read_waits_for_a_write_that_is_short(database: Database) -> None:
    await database.open()
    before = open_files(database.path.parent)
    for number in range(1, 5):
        writing = database.write(lambda tx: tx.value("SELECT 1"))
        assert (await database.read(lambda tx: count_and_thread(10, tx)))[1] == threading.get_ident(), number
        await writing
    assert open_files(database.path.parent) == before


@pytest.mark.parametrize("database", ["the writer's connection"], indirect=True)
async def test_a_read_that_is_handed_over_by_a_close_opens_nothing(database: Database) -> None:
    await database.open()
    reading = database.read(lambda tx: count_and_thread(10, tx))
    await database.close()
    assert (await reading)[0] == 10
    await asyncio.sleep(0.05)
    assert not database._inline_reader.is_open


@pytest.fixture
def short_turns(none_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline_reader, "TURN_SECONDS", 0.0)


@pytest.mark.usefixtures("short_turns")
async def test_a_few_reads_that_a_turn_has_no_time_for_wait_for_the_next_turn(database: Database) -> None:
    before, few = database.connections, range(CROWD)
    found = await asyncio.gather(*(database.read(partial(count_and_thread, n)) for n in few))
    assert found == [(max(n, 1), threading.get_ident()) for n in few]
    assert database.connections <= max(before, 1), "none was opened for them"


@pytest.mark.usefixtures("short_turns")
async def test_a_crowd_that_a_turn_has_no_time_for_is_done_by_threads(database: Database) -> None:
    many = range(1, 5 * CROWD)
    found = await asyncio.gather(*(database.read(partial(count_and_thread, n)) for n in many))
    assert [counted for counted, _ in found] == list(many)
    assert {thread for _, thread in found} > {threading.get_ident()}


async def test_time_that_others_take_does_not_make_a_read_long(database: Database) -> None:
    def wait_and_count(tx: Transaction) -> int:
        time.sleep(2 * MOMENT_SECONDS)
        return count_and_thread(1_000, tx)[1]

    assert await database.read(wait_and_count) == threading.get_ident()


@pytest.mark.usefixtures("none_at_once")
async def test_a_turn_that_stalls_leaves_the_others_to_threads(database: Database) -> None:
    """A turn that stalls leaves the other reads to threads.

    Each read waits briefly for the disk. Together the reads would block the event loop.
    """

    def stall(_: Transaction) -> int:
        time.sleep(STALL_SECONDS / 2)
        return threading.get_ident()

    found = await asyncio.gather(*(database.read(stall) for _ in range(8)))
    assert 1 <= found.count(threading.get_ident()) <= 3


@pytest.mark.usefixtures("short_turns")
async def test_every_read_is_answered_when_memory_runs_out_between_turns(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.read(partial(count_and_thread, 1))
    loop, calls = asyncio.get_running_loop(), 0
    call_soon = loop.call_soon

    def failing(callback: Callable[..., object], *arguments: Any, **options: Any) -> asyncio.Handle:
        nonlocal calls
        calls += getattr(callback, "__name__", "") == "_run_in_turn"
        if calls == 2:  # the first call was for this turn, this call is for the next one
            calls += 1
            raise MemoryError
        return call_soon(callback, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "call_soon", failing)
        reads = [database.read(partial(count_and_thread, 3)) for _ in range(4)]
        found = await asyncio.wait_for(asyncio.gather(*reads, return_exceptions=True), 5)
    assert calls > 2
    assert [type(each) for each in found].count(MemoryError) == 1
    assert await database.read(partial(count_and_thread, 3)) == (3, threading.get_ident())


async def test_a_read_that_stalls_is_done_by_a_thread(database: Database) -> None:
    def stall_and_count(tx: Transaction) -> int:
        time.sleep(2 * STALL_SECONDS)
        return count_and_thread(1_000, tx)[1]

    assert await database.read(stall_and_count) != threading.get_ident()


@pytest.fixture
def no_threads(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_: int) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(database._readers, "_open_reader", refuse)


@pytest.mark.usefixtures("no_threads")
async def test_a_read_that_stalled_once_is_answered_even_if_no_thread_can_read(database: Database) -> None:
    waits = [2 * STALL_SECONDS]

    def stall_once_and_count(tx: Transaction) -> int:
        time.sleep(waits.pop() if waits else 0)
        return count_and_thread(1_000, tx)[1]

    assert await database.read(stall_once_and_count) == threading.get_ident()


@pytest.mark.usefixtures("no_threads")
async def test_a_long_read_is_refused_if_no_thread_can_read(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await database.read(lambda tx: count_and_thread(LONG, tx))
    assert await database.read(lambda tx: count_and_thread(10, tx)) == (10, threading.get_ident())
