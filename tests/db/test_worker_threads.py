"""Tests of worker threads: few threads for all, and more only while all run long tasks and another task waits."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from wmsd.db.engine.worker_threads import WorkerThreads

SOON = 10.0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110  # a thread starts and ends without telling the loop
            await asyncio.sleep(0.01)


async def test_threads_do_not_grow_with_tasks() -> None:
    workers = WorkerThreads("test", few=3)
    found = await asyncio.gather(*(workers.run(threading.get_ident) for _ in range(500)))
    assert len(set(found)) <= 3
    assert workers.count <= 3


async def test_a_thread_is_started_when_it_is_needed() -> None:
    workers = WorkerThreads("test", few=3)
    assert workers.count == 0
    for _ in range(5):
        await workers.run(lambda: time.sleep(0.01))
    assert workers.count < 3, "one after the other needs no three"


async def test_long_tasks_hold_up_nothing_else() -> None:
    workers, may_end = WorkerThreads("test", few=2, most=8), threading.Event()
    long = [asyncio.ensure_future(workers.run(lambda: may_end.wait(SOON))) for _ in range(5)]
    await asyncio.sleep(0)
    async with asyncio.timeout(SOON / 2):
        assert await workers.run(lambda: "quick") == "quick"
    may_end.set()
    assert all(await asyncio.gather(*long))
    await until(lambda: workers.count <= 2)


async def test_there_are_never_more_than_the_most() -> None:
    workers, may_end, running = WorkerThreads("test", few=1, most=3), threading.Event(), list[int]()

    def task() -> int:
        running.append(1)
        may_end.wait(SOON)
        running.pop()
        return len(running)

    tasks = [asyncio.ensure_future(workers.run(task)) for _ in range(9)]
    await until(lambda: len(running) == 3)
    await asyncio.sleep(0.2)
    assert len(running) == workers.count == 3
    may_end.set()
    assert max(await asyncio.gather(*tasks)) <= 2


async def test_what_a_task_raises_is_its_own() -> None:
    workers = WorkerThreads("test", few=1)
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 / 0)
    assert await workers.run(lambda: 1) == 1


async def test_a_task_runs_to_its_end_although_nobody_waits() -> None:
    workers, ended = WorkerThreads("test", few=1), threading.Event()
    may_end = threading.Event()

    def end() -> None:
        may_end.wait(SOON)
        ended.set()

    task = asyncio.ensure_future(workers.run(end))
    await asyncio.sleep(0.01)
    task.cancel()
    may_end.set()
    assert await asyncio.to_thread(ended.wait, SOON)


async def test_without_any_thread_the_caller_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    workers = WorkerThreads("test")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await workers.run(lambda: 1)
    assert workers.count == 0
    assert await workers.run(lambda: 1) == 1


async def test_without_a_further_thread_those_that_there_are_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = WorkerThreads("test", few=4)
    await workers.run(lambda: None)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert await asyncio.gather(*(workers.run(lambda: time.sleep(0.001)) for _ in range(20))) == [None] * 20
    assert workers.count == 1


async def test_closed_workers_end_after_their_tasks() -> None:
    workers = WorkerThreads("test", few=3)
    tasks = [asyncio.ensure_future(workers.run(lambda: time.sleep(0.01))) for _ in range(9)]
    await asyncio.sleep(0)
    workers.close()
    await asyncio.gather(*tasks)
    await until(lambda: workers.count == 0)


async def test_a_task_without_memory_to_begin_begins_as_soon_as_there_is_some() -> None:
    workers, refusals = WorkerThreads("test", few=1), [1, 2]

    def task() -> None:
        if refusals:
            refusals.pop()
            raise MemoryError
        begun.set()

    begun = threading.Event()
    workers.post(task)
    assert await asyncio.to_thread(begun.wait, SOON)
