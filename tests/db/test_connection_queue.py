"""Tests of the queue of a connection: its work runs whole, in order, on workers, and closing waits for it."""

import asyncio
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from wmsd.contract.context import PROGRAM
from wmsd.db.engine import connection_queue
from wmsd.db.engine.connection_queue import ConnectionQueue
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.work import Work
from wmsd.db.engine.worker_threads import WorkerThreads
from wmsd.db.migrations import COMPANY, create_file

SOON = 10.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "1.db"
    create_file(path, COMPANY)
    return path


@pytest.fixture
def workers() -> WorkerThreads:
    return WorkerThreads("test", few=2)


async def opened(path: Path, workers: WorkerThreads) -> ConnectionQueue:
    return await ConnectionQueue.open(workers, partial(connect, path), run_group)


def run_group(connection: sqlite3.Connection, group: list[Work]) -> None:
    for work in group:
        work.result = work.action(connection)


def where(connection: sqlite3.Connection) -> int:
    return threading.get_ident()


async def test_work_runs_on_a_worker_until_the_connection_is_closed(path: Path, workers: WorkerThreads) -> None:
    queue = await opened(path, workers)
    assert threading.get_ident() not in {await queue.submit(where, PROGRAM) for _ in range(3)}
    await queue.close()
    with pytest.raises(ValueError, match="no active connection"):
        queue.submit(where, PROGRAM)


async def test_what_waits_is_done_before_the_connection_is_closed(path: Path, workers: WorkerThreads) -> None:
    queue = await opened(path, workers)
    several = [queue.submit(lambda connection: connection.in_transaction, PROGRAM) for _ in range(200)]
    await queue.close()
    assert await asyncio.gather(*several) == [False] * 200


async def test_its_connection_is_lent_while_nothing_runs(path: Path, workers: WorkerThreads) -> None:
    queue = await opened(path, workers)
    assert queue.connection is not None
    running = queue.submit(where, PROGRAM)
    assert queue.connection is None
    await running
    assert queue.connection is not None
    await queue.close()
    assert queue.connection is None


async def test_one_that_gathers_takes_all_of_a_turn_of_the_loop_together(
    path: Path, workers: WorkerThreads
) -> None:
    groups: list[int] = []

    def noted(connection: sqlite3.Connection, group: list[Work]) -> None:
        groups.append(len(group))
        run_group(connection, group)

    queue = await ConnectionQueue.open(workers, partial(connect, path), noted)
    queue.gathers = True
    for count in (1, 50):
        several = []
        for _ in range(count):
            several.append(queue.submit(where, PROGRAM))
            assert queue.connection is None, "from the first on"
            time.sleep(0.001)  # noqa: ASYNC251  (the loop is kept, so that a thread has time to start)
        await asyncio.gather(*several)
    assert groups == [1, 50]
    await queue.close()


async def test_one_that_gathers_tells_whoever_comes_too_late(path: Path, workers: WorkerThreads) -> None:
    queue = await opened(path, workers)
    queue.gathers = True
    await queue.close()
    with pytest.raises(ValueError, match="no active connection"):
        await queue.submit(where, PROGRAM)
    assert queue.is_idle


async def test_two_connections_take_turns_on_one_thread(tmp_path: Path) -> None:
    workers, order = WorkerThreads("test", few=1, most=1), list[str]()
    queues = {}
    for name in "ab":
        create_file(tmp_path / f"{name}.db", COMPANY)
        queues[name] = await opened(tmp_path / f"{name}.db", workers)
        queues[name].largest_group = 1

    def note(name: str, _: sqlite3.Connection) -> None:
        order.append(name)
        time.sleep(0.01)

    await asyncio.gather(*(queues[name].submit(partial(note, name), PROGRAM) for name in "aaabbb"))
    assert order in (list("ababab"), list("aababb")), "none waits for all of the other"
    for queue in queues.values():
        await queue.close()


async def test_an_iterator_that_ended_too_soon_is_told_as_an_error() -> None:
    """An iterator that ends too soon is reported as an error.

    No future accepts a StopIteration, and every caller whose work is settled after it would wait for ever.
    """
    work = Work(lambda connection: None, PROGRAM, asyncio.get_running_loop().create_future())
    work.error = StopIteration()
    work.settle()
    with pytest.raises(RuntimeError, match="ended too soon"):
        await work.future


async def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, workers: WorkerThreads) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await opened(tmp_path / "nothing.db", workers)


async def test_an_opening_that_nobody_waits_for_leaves_no_connection(path: Path, workers: WorkerThreads) -> None:
    made: list[sqlite3.Connection] = []
    may_go_on = threading.Event()

    def slow() -> sqlite3.Connection:
        may_go_on.wait(SOON)
        made.append(connect(path))
        return made[0]

    opening = asyncio.ensure_future(ConnectionQueue.open(workers, slow, run_group))
    await asyncio.sleep(0.01)
    opening.cancel()
    await asyncio.sleep(0.01)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[0].execute("SELECT 1")


async def test_work_that_lacks_memory_to_begin_begins_as_soon_as_there_is_some(
    path: Path, workers: WorkerThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ShortOfMemory:
        refusals = 3
        sleep = staticmethod(time.sleep)

        def monotonic(self) -> float:
            if threading.current_thread() is not threading.main_thread() and self.refusals:
                self.refusals -= 1
                raise MemoryError
            return time.monotonic()

    queue, short = await opened(path, workers), ShortOfMemory()
    monkeypatch.setattr(connection_queue, "time", short)
    async with asyncio.timeout(SOON):
        assert await queue.submit(where, PROGRAM) != threading.get_ident()
    assert short.refusals == 0
    await queue.close()


async def test_work_that_finds_no_thread_is_not_done_later(
    path: Path, workers: WorkerThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, done = await opened(path, workers), list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(workers, "post", _refuse)
        with pytest.raises(RuntimeError):
            queue.submit(lambda _: done.append("first"), PROGRAM)
    await queue.submit(lambda _: done.append("second"), PROGRAM)
    assert done == ["second"]
    await queue.close()


async def test_what_waits_while_no_thread_can_go_on_is_refused(
    path: Path, workers: WorkerThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, goes_on, done = await opened(path, workers), threading.Event(), list[str]()
    queue.largest_group = 1
    first = queue.submit(lambda _: goes_on.wait(SOON), PROGRAM)
    await asyncio.sleep(0.01)
    with monkeypatch.context() as patch:
        patch.setattr(workers, "post", _refuse)
        queue._waiting.append(late := Work(lambda _: done.append("late"), PROGRAM, asyncio.Future()))
        queue._deliver(asyncio.get_running_loop(), [], is_last=True)
        with pytest.raises(RuntimeError):
            await late.future
    goes_on.set()
    await first
    await queue.submit(lambda _: done.append("second"), PROGRAM)
    assert done == ["second"]
    await queue.close()


def _refuse(_: object) -> None:
    raise RuntimeError("can't start new thread")
