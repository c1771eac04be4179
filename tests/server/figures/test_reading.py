"""The metrics of a running server say what it did, and reading the metrics opens no company's file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.world import World
from wmsd.db.engine import raw_files
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.service import LIVE_FIGURES
from wmsd.server.figures import live
from wmsd.server.figures.schema import ServerFigures
from wmsd.tenants.accounts import sessions
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewCompany

HOOK = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
ARTICLE = {"code": "NEW", "name": "New"}
_opened: list[str] = []
_watches: list[bool] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _watches and event == "open":
        _opened.append(str(arguments[0]))


@contextmanager
def opens(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the files that Python or SQLite opens during the block."""

    def note_too(file: Path) -> None:
        _opened.append(str(file))
        raw_files.note_opened(file)

    with monkeypatch.context() as patched:
        patched.setattr("wmsd.db.engine.sqlite.note_opened", note_too)
        _opened.clear()
        _watches.append(True)
        sys.addaudithook(_note)
        yield _opened
        _watches.clear()


async def figures(world: World) -> ServerFigures:
    return await world.app[LIVE_FIGURES].read()


@pytest.fixture(autouse=True)
def _each_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HOLDS_SECONDS", 0.0)


async def test_requests_are_counted_by_surface_and_class(world: World) -> None:
    before = (await figures(world)).requests
    await world.call("GET", "/api/articles")
    await world.call("GET", "/api/articles/7", status=404)
    await world.call("GET", "/api/articles", token="forged", status=401)
    await world.send("GET", "/nowhere-at-all")
    await world.send("GET", "/docs")
    found = await figures(world)
    assert _more(before, found, "rest_v1") == [1, 0, 2, 0]
    assert _more(before, found, "other") == [0, 0, 1, 0]
    assert _more(before, found, "guide") == [1, 0, 0, 0]
    assert sum(found.requests["rest_v1"].buckets) == sum(found.requests["rest_v1"].by_class)
    assert found.requests["rest_v1"].seconds > 0
    assert found.last_minute.requests >= 5


def _more(before: dict[str, Any], found: ServerFigures, surface: str) -> list[int]:
    pairs = zip(before[surface].by_class, found.requests[surface].by_class, strict=True)
    return [after - earlier for earlier, after in pairs]


async def test_deliveries_that_wait_are_counted_with_the_oldest(shop: Shop) -> None:
    world = shop.world
    await world.call("POST", "/api/webhooks", HOOK, status=201)
    await world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])
    world.clock.advance(90)
    await world.jobs.today.keep()
    found = (await figures(world)).deliveries
    assert (found.waiting, found.given_up, found.switched_off) == (1, 0, 0)
    assert found.oldest_seconds == pytest.approx(90, abs=1)


async def test_companies_that_cannot_be_used_are_named(world: World) -> None:
    bad = await world.new_company("BAD")
    await (await world.database(bad)).close()
    world.installation.files.path(bad).write_bytes(b"not a database" * 1000)
    await world.send("GET", "/api/articles", company=bad)
    found = (await figures(world)).companies
    assert (found.known, found.unavailable, found.read_only) == (2, ["BAD"], [])


async def test_the_largest_log_has_the_name_of_its_company(shop: Shop) -> None:
    await shop.order({"article_code": "A", "quantity": 1})
    found = (await figures(shop.world)).logs
    log = shop.world.installation.files.path(shop.world.company).with_name("1.db-wal").stat().st_size
    platform = shop.world.installation.folder.path.joinpath("platform.db-wal").stat().st_size
    assert found.bytes == log + platform
    assert found.largest_bytes == max(log, platform)
    assert found.largest_of == ("ACME" if log >= platform else "platform")


async def test_sessions_and_streams_are_counted(world: World) -> None:
    await world.installation.platform.write(lambda tx: sessions.begin(tx, 1, "127.0.0.1", "a browser", None))
    with world.jobs.changes.listening(1):
        found = await figures(world)
    assert (found.sessions, found.event_streams) == (1, 1)


async def test_with_a_thousand_companies_no_file_is_opened(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(tx: Transaction) -> None:
        for number in range(1000):
            new = NewCompany(code=f"C{number}", name="C", modules=[])
            # a file that does not exist cannot be opened
            companies.create_company(tx, new, lambda _id, _code: None)

    await world.installation.platform.write(add)
    await world.installation.access.companies()
    await figures(world)
    before = world.opened
    with opens(monkeypatch) as opened:
        found = await figures(world)
    assert found.companies.known == 1001
    assert [each for each in opened if "companies" in each] == []
    assert world.opened == before
    assert found.companies.unavailable == []


async def test_whoever_asks_in_a_loop_gets_the_same_reading(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HOLDS_SECONDS", 3600.0)
    first = await figures(world)
    await world.call("GET", "/api/articles")
    assert await figures(world) is first
