"""Tests of a disk that is really full: the affected group of units is undone as a whole, and later groups are not
harmed.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Iterable
from functools import partial
from pathlib import Path

import pytest

from tests.db.test_unit_of_work import add, codes
from tests.support.small_disk import fill
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.migrations import COMPANY, create_file

MEBIBYTE = 1024 * 1024
LEFT = 100_000
"""The free bytes: enough for a few small units, but not for a large one."""
BEYOND_THE_CACHE = 40 * MEBIBYTE
"""A size that SQLite has to write out before the commit, so it is refused in the middle of the unit."""


@pytest.fixture
async def on_small_disk(small_disk: Path) -> AsyncIterator[Database]:
    path = small_disk / "1.db"
    create_file(path, COMPANY)
    database = Database(path, OrderedClock(SteeredClock()), CountedIds())
    yield database
    await database.close()


async def written_together(database: Database, names: Iterable[str]) -> list[object]:
    """Return the results of units that run as one group, because all wait while the writer is busy."""
    begun, goes_on = threading.Event(), threading.Event()

    def hold_up(tx: Transaction) -> None:
        begun.set()
        goes_on.wait()

    first = asyncio.ensure_future(database.write(hold_up))
    await asyncio.to_thread(begun.wait)
    units: list[Awaitable[object]] = [database.write(partial(add, code=name)) for name in names]
    goes_on.set()
    await first
    return await asyncio.gather(*units, return_exceptions=True)


@pytest.mark.parametrize("size", [10 * MEBIBYTE, BEYOND_THE_CACHE])
async def test_every_unit_of_the_group_fails_and_none_before_or_after(
    on_small_disk: Database, small_disk: Path, size: int
) -> None:
    await on_small_disk.write(partial(add, code="before"))
    other = fill(small_disk, LEFT)
    results = await written_together(on_small_disk, ["first", "x" * size, "last"])
    assert all(isinstance(result, sqlite3.OperationalError) for result in results), results
    assert [getattr(result, "sqlite_errorname", "") for result in results] == ["SQLITE_FULL"] * 3
    assert await codes(on_small_disk) == ["before"]
    other.unlink()
    assert await written_together(on_small_disk, ["after", "and after that"]) == [2, 3]
    await on_small_disk.close()
    found = connect(on_small_disk.path, read_only=True)
    assert found.execute("SELECT code FROM clients ORDER BY id").fetchall() == [
        ("before",),
        ("after",),
        ("and after that",),
    ]
    assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found.close()
