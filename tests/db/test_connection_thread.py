"""A connection on a thread of its own: it ends with its connection, and no shortage leaves anybody waiting."""

import asyncio
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tests.support.threads import no_threads_beside
from wmsd.base.context import PROGRAM
from wmsd.db import connection_thread
from wmsd.db.connection_thread import ConnectionThread, Work
from wmsd.db.migrations import COMPANY, create
from wmsd.db.sqlite import connect, sqlite3

SOON = 10.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "1.db"
    create(path, COMPANY)
    return path


async def opened(path: Path) -> ConnectionThread:
    return await ConnectionThread.open(partial(connect, path), run_group)


def run_group(connection: sqlite3.Connection, group: list[Work]) -> None:
    for work in group:
        work.result = work.action(connection)


def where(connection: sqlite3.Connection) -> int:
    return threading.get_ident()


async def test_work_runs_on_one_thread_until_the_connection_is_closed(path: Path) -> None:
    before = set(threading.enumerate())
    thread = await opened(path)
    assert len({await thread.submit(where, PROGRAM) for _ in range(3)} - {threading.get_ident()}) == 1
    await thread.close()
    with pytest.raises(ValueError, match="no active connection"):
        thread.submit(where, PROGRAM)
    await no_threads_beside(before)


async def test_what_waits_is_done_before_the_connection_is_closed(path: Path) -> None:
    thread = await opened(path)
    several = [thread.submit(lambda connection: connection.in_transaction, PROGRAM) for _ in range(200)]
    await thread.close()
    assert await asyncio.gather(*several) == [False] * 200


async def test_a_file_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(sqlite3.OperationalError):
        await opened(tmp_path / "nothing.db")
    await no_threads_beside(before)


async def test_where_there_is_no_second_thread_the_first_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, start = set(threading.enumerate()), threading.Thread.start
    started: list[threading.Thread] = []

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        await opened(path)
    await no_threads_beside(before)


async def test_work_that_lacks_memory_to_begin_begins_as_soon_as_there_is_some(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ShortOfMemory:
        refusals = 3
        sleep = staticmethod(time.sleep)

        def monotonic(self) -> float:
            if threading.current_thread() is not threading.main_thread() and self.refusals:
                self.refusals -= 1
                raise MemoryError
            return time.monotonic()

    thread, short = await opened(path), ShortOfMemory()
    monkeypatch.setattr(connection_thread, "time", short)
    async with asyncio.timeout(SOON):
        assert await thread.submit(where, PROGRAM) != threading.get_ident()
    assert short.refusals == 0
    await thread.close()
