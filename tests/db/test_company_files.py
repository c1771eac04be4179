"""Tests of which companies' files are open: those in use, no more than allowed, and none that failed."""

import asyncio
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.open_files import DELETED, open_files
from tests.support.world import UNLIMITED, World, open_world
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.open_files import FileBounds

LIST = "/api/articles"


def companies_open(world: World) -> set[int]:
    """Return the companies whose files this process has open."""
    names = {name.partition(".")[0] for name in open_files(world.installation.folder.companies)}
    return {int(name) for name in names}


async def use(world: World, company: int) -> None:
    """Use a company, one second after the last use."""
    world.clock.advance(1)
    assert (await world.send("GET", LIST, company=company)).status == 200


@pytest.fixture
async def three_open(world: World) -> tuple[World, list[int]]:
    """Return an installation that has three files open, which is its maximum, and these companies.

    The fourth company is closed.
    """
    world.installation.files.open.bounds = FileBounds(connections=3)
    companies = [await world.new_company(f"C{place}") for place in range(4)]
    await (await world.database()).close()
    for company in companies[:3]:
        await use(world, company)
    assert companies_open(world) == set(companies[:3])
    return world, companies


async def test_the_file_that_was_not_used_for_longest_is_closed(three_open: tuple[World, list[int]]) -> None:
    world, (first, second, third, fourth) = three_open
    await use(world, first)
    await use(world, fourth)
    assert companies_open(world) == {third, first, fourth}
    await use(world, second)
    assert companies_open(world) == {first, fourth, second}


@dataclass
class Long:
    """A unit of work that runs as long as the test wants."""

    unit: "asyncio.Future[str]"
    goes_on: threading.Event

    @classmethod
    async def begun(cls, database: Database, kind: str) -> "Long":
        begun, goes_on = threading.Event(), threading.Event()

        def take_long(tx: Transaction) -> str:
            begun.set()
            goes_on.wait(20)
            return "done"

        unit = asyncio.ensure_future(getattr(database, kind)(take_long))
        await asyncio.to_thread(begun.wait)
        return cls(unit, goes_on)


@pytest.mark.parametrize("kind", ["write", "read_long"])
async def test_a_file_in_use_is_not_closed_and_nobody_waits_for_it(
    three_open: tuple[World, list[int]], kind: str
) -> None:
    world, (first, second, third, fourth) = three_open
    world.installation.files.open.bounds = FileBounds(connections=3 if kind == "write" else 4)
    long = await Long.begun(await world.database(first), kind)
    await use(world, second)
    await use(world, third)
    async with asyncio.timeout(10):
        await use(world, fourth)
    assert not long.unit.done()
    assert companies_open(world) == {first, third, fourth}
    long.goes_on.set()
    assert await long.unit == "done"


def damage(file: Path) -> None:
    """Damage everything except the schema.

    What was read before is still in memory. What was not read is found to be damaged.
    """
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * (file.stat().st_size - 4096))


async def test_a_file_that_failed_is_closed_before_another_is_opened_in_its_place(world: World) -> None:
    """A failed file is closed before another is opened in its place.

    The closing waits for reads that still use the file.
    """
    companies = world.installation.folder.companies
    await world.call("POST", LIST, {"code": "A", "name": "A"}, status=201, events=["article.created"])
    await (await world.database()).close()
    file = companies / "1.db"
    whole = file.read_bytes()
    await world.send("GET", LIST)
    long = await Long.begun(await world.database(), "read_long")
    damage(file)
    assert (await world.send("GET", "/api/clients")).status == 503
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.with_name("put-back").write_bytes(whole)
    file.with_name("put-back").rename(file)
    asked = asyncio.ensure_future(world.send("GET", LIST))
    await asyncio.wait([asked], timeout=0.3)
    assert "1.db" not in open_files(companies)
    long.goes_on.set()
    assert (await asked).body["meta"]["total"] == 1
    assert [name for name in open_files(companies) if name.endswith(DELETED)] == []
    assert await long.unit == "done"


async def test_a_file_that_failed_is_not_left_open_at_the_end(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        companies = world.installation.folder.companies
        await world.send("GET", LIST)
        long = await Long.begun(await world.database(), "read_long")
        damage(companies / "1.db")
        assert (await world.send("GET", "/api/clients")).status == 503
        threading.Timer(0.3, long.goes_on.set).start()
    assert open_files(companies) == []


async def test_a_commit_is_told_also_when_its_file_was_opened_before_anybody_listened(world: World) -> None:
    files, told = world.installation.files, list[int]()
    database = await world.database()
    files.after_commit = told.append
    await database.write(lambda tx: tx.execute("PRAGMA user_version"))
    assert told == [world.company]


async def test_a_file_that_had_failed_may_have_been_written_elsewhere(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = world.installation.files
    monkeypatch.setattr(files, "_alone", True)
    assert list(files.written_elsewhere([world.company])) == []
    files.suspect(world.company, OSError("it cannot be read"))
    assert list(files.written_elsewhere([world.company])) == []
    await use(world, world.company)
    assert list(files.written_elsewhere([world.company])) == [world.company]
    assert list(files.written_elsewhere([world.company])) == []
