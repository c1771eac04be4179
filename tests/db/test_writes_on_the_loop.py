"""Tests of writes that may be repeated: the event loop runs them if they are quick, and a thread commits them."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.db.test_unit_of_work import ADD, CODES, Refused, add_then_refuse
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine import connection_queue, unit_of_work
from wmsd.db.engine.database import Database
from wmsd.db.engine.loop_connection import STALL_SECONDS
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.worker_threads import Workers, WorkerThreads
from wmsd.db.migrations import COMPANY, create_file

LOOP = threading.get_ident()
COUNT = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) FROM n"
SOON = 10.0


class Writer:
    """A database whose units of work note on which thread they ran. `codes` shows what another program sees."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.ran: list[tuple[str, bool]] = []
        """The name of each unit that has run, and whether the event loop has run it."""

    def add(self, code: str, then: Callable[[Transaction], object] = lambda tx: None) -> Any:
        def unit(tx: Transaction) -> str:
            self.ran.append((code, threading.get_ident() == LOOP))
            tx.insert(ADD, (code,))
            then(tx)
            return code

        return self.database.write(unit, may_repeat=True)

    @property
    def codes(self) -> list[str]:
        with closing(connect(self.database.path, read_only=True)) as other:
            return [code for (code,) in other.execute(CODES)]


@pytest.fixture
async def writers(tmp_path: Path) -> AsyncIterator[list[Writer]]:
    """Open three files that share their threads."""
    workers, clock = Workers(), OrderedClock(SteeredClock())
    several: list[Writer] = []
    for number in (1, 2, 3):
        path = tmp_path / f"{number}.db"
        create_file(path, COMPANY)
        several.append(Writer(Database(path, clock, CountedIds(), workers=workers)))
        await several[-1].database.open()
    yield several
    for each in several:
        await each.database.close()
    workers.close()


@pytest.fixture
def writer(writers: list[Writer]) -> Writer:
    return writers[0]


def raises(error: BaseException) -> None:
    raise error


def takes_long(tx: Transaction) -> None:
    tx.value(COUNT)


def takes_long_and_hides_it(tx: Transaction) -> None:
    with suppress(sqlite3.Error):
        tx.value(COUNT)


def writes_long(tx: Transaction) -> None:
    tx.execute(f"UPDATE clients SET name = ({COUNT})")


def waits_for_the_disk(tx: Transaction) -> None:
    if threading.get_ident() == LOOP:
        time.sleep(2 * STALL_SECONDS)
        tx.value(COUNT)


async def test_the_loop_runs_a_quick_write_and_a_thread_commits_it(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed: list[int] = []

    def commit(connection: sqlite3.Connection) -> None:
        committed.append(threading.get_ident())
        connection.execute("COMMIT")

    monkeypatch.setattr(unit_of_work, "commit", commit)
    assert await writer.add("a") == "a"
    assert writer.ran == [("a", True)]
    assert committed != [LOOP]
    assert writer.codes == ["a"]


async def test_writes_of_one_turn_share_a_commit(writer: Writer) -> None:
    codes = [f"{number:02}" for number in range(20)]
    assert await asyncio.gather(*map(writer.add, codes)) == codes
    assert writer.codes == codes
    assert writer.ran == [(code, True) for code in codes]


async def test_a_write_that_may_not_be_repeated_runs_once_on_a_thread(writer: Writer) -> None:
    first, other = (
        writer.add("a"),
        writer.database.write(lambda tx: (tx.insert(ADD, ("b",)), threading.get_ident())),
    )
    last = writer.add("c")
    assert (await first, (await other)[1] != LOOP, await last) == ("a", True, "c")
    assert writer.codes == ["a", "b", "c"], "in their order"
    assert writer.ran[0] == ("a", True)


@pytest.mark.parametrize("long", [takes_long, takes_long_and_hides_it, writes_long, waits_for_the_disk])
async def test_a_write_that_takes_long_is_undone_and_run_again_by_a_thread(
    writer: Writer, long: Callable[[Transaction], None]
) -> None:
    found = await asyncio.gather(writer.add("a"), writer.add("long", long), writer.add("b"))
    assert list(found) == ["a", "long", "b"]
    on_the_loop, on_a_thread = ["a", "long"], ["a", "long", "b"]
    assert writer.ran == [*((code, True) for code in on_the_loop), *((code, False) for code in on_a_thread)]
    assert writer.codes == ["a", "long", "b"]
    await writer.add("after")
    assert writer.ran[-1] == ("after", True), "the loop goes on"


async def test_a_long_write_alone_is_undone_and_run_again_by_a_thread(writer: Writer) -> None:
    assert await writer.add("long", takes_long) == "long"
    assert writer.ran == [("long", True), ("long", False)]
    assert writer.codes == ["long"]


async def test_what_all_units_share_may_take_long_too(writer: Writer) -> None:
    def share(tx: Transaction) -> None:
        tx.at_commit["long"] = takes_long

    await writer.add("a", share)
    assert writer.ran == [("a", True), ("a", False)]
    assert writer.codes == ["a"]


async def test_a_write_that_fails_is_undone_alone(writer: Writer) -> None:
    refused = writer.database.write(add_then_refuse, may_repeat=True)
    found = await asyncio.gather(writer.add("a"), refused, writer.add("b"), return_exceptions=True)
    assert [type(each) for each in found] == [str, Refused, str]
    assert writer.codes == ["a", "b"]


async def test_a_write_that_fails_alone_leaves_nothing(writer: Writer) -> None:
    with pytest.raises(Refused):
        await writer.database.write(add_then_refuse, may_repeat=True)
    await writer.add("after")
    assert writer.codes == ["after"]


async def test_a_write_whose_caller_has_left_does_not_run(writer: Writer) -> None:
    several = [writer.add(code) for code in "abc"]
    several[1].cancel()
    await asyncio.gather(*several, return_exceptions=True)
    assert writer.codes == ["a", "c"]


async def test_the_loop_does_not_wait_for_another_program_that_writes(writer: Writer) -> None:
    with closing(connect(writer.database.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = writer.add("a")
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert not writing.done()
        assert writer.ran == []
        other.execute("ROLLBACK")
        await asyncio.wait_for(writing, SOON)
    assert writer.ran == [("a", False)]
    assert writer.codes == ["a"]


async def test_many_writes_let_other_work_of_the_loop_through(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_of_work, "GROUP_SECONDS", 0)
    turns: list[int] = []

    async def count() -> None:
        while len(writer.ran) < 10:
            turns.append(len(writer.ran))
            await asyncio.sleep(0)

    await asyncio.gather(count(), *(writer.add(str(number)) for number in range(10)))
    assert len(set(turns)) > 5, "each group is short"
    assert len(writer.codes) == 10


async def test_the_writers_of_all_files_share_each_turn(
    writers: list[Writer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_of_work, "GROUP_SECONDS", 0)
    monkeypatch.setattr(connection_queue, "TURN_SECONDS", 1e-6)
    turn, turns = 0, list[int]()

    async def count() -> None:
        nonlocal turn
        while len(turns) < 30:
            turn += 1
            await asyncio.sleep(0)

    def note(_: Transaction) -> None:
        turns.append(turn)

    several = [each.add(str(number), note) for number in range(10) for each in writers]
    await asyncio.gather(count(), *several)
    assert len(set(turns)) == 30
    assert [len(each.codes) for each in writers] == [10] * 3


async def test_results_are_delivered_before_the_next_group_runs(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_of_work, "GROUP_SECONDS", 0)
    order: list[str] = []

    async def add(code: str) -> None:
        order.append(await writer.add(code, lambda tx: order.append(f"run {code}")))

    await asyncio.gather(*map(add, "abc"))
    assert order == ["run a", "a", "run b", "b", "run c", "c"]


async def test_a_failed_commit_fails_every_write(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    await writer.add("before")

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(unit_of_work, "commit", fail)
        found = await asyncio.gather(writer.add("a"), writer.add("b"), return_exceptions=True)
    assert [str(each) for each in found] == ["disk I/O error"] * 2
    await writer.add("after")
    assert writer.codes == ["before", "after"]


async def test_without_a_thread_to_commit_nothing_is_written_and_all_are_told(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(self: WorkerThreads, task: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(WorkerThreads, "post", no_thread)
        found = await asyncio.gather(writer.add("a"), writer.add("b"), return_exceptions=True)
    assert [type(each) for each in found] == [RuntimeError] * 2
    await writer.add("after")
    assert writer.codes == ["after"]


async def test_an_error_after_a_commit_stops_no_later_write(writer: Writer) -> None:
    """Writes wait while a group is committed, and what follows the commit fails."""
    errors = [MemoryError()]
    writer.database.after_commit = lambda: raises(errors.pop()) if errors else None
    first = writer.add("first")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [writer.add("second"), writer.add("third")]
    async with asyncio.timeout(SOON):
        assert await asyncio.gather(first, *later) == ["first", "second", "third"]
    assert not errors
    assert writer.codes == ["first", "second", "third"]


async def test_whatever_a_unit_raises_is_its_own(writer: Writer) -> None:
    async with asyncio.timeout(SOON):
        with pytest.raises(KeyboardInterrupt):
            await writer.add("a", lambda tx: raises(KeyboardInterrupt()))
        assert await writer.add("b") == "b"
    assert writer.codes == ["b"]


async def test_reads_see_each_write_that_was_answered_before(writer: Writer) -> None:
    for number in range(50):
        await writer.add(str(number))
        assert await writer.database.read(lambda tx: tx.value("SELECT count(*) FROM clients")) == number + 1


async def test_work_is_done_before_the_file_is_closed(writer: Writer) -> None:
    several = [writer.add(str(number)) for number in range(10)]
    await asyncio.sleep(0)
    await writer.database.close()
    assert len(await asyncio.gather(*several)) == 10
    assert len(writer.codes) == 10


async def test_a_closed_file_leaves_no_connection_in_memory(writer: Writer) -> None:
    await writer.add("a")
    await writer.database.read(lambda tx: tx.rows(CODES))
    assert writer.database._writer is not None
    connection = weakref.ref(writer.database._writer.connection)
    assert connection() is not None
    await writer.database.close()
    async with asyncio.timeout(SOON):  # the thread that has closed the connection frees it a little later
        while connection() is not None:
            await asyncio.sleep(0.01)
            gc.collect()
