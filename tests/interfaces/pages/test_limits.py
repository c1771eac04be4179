"""The limits of the pages: requests are counted by user and not by browser, and changes wait for their turn."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_live import again
from tests.support.shop import open_shop
from tests.support.world import PASSWORD, World, open_world
from wmsd.dispatch.limits.page_writes import COMPANY, PERSON
from wmsd.tenants.accounts.actions import disable_user

NEW = "/companies/1/articles/new"
PEOPLE = 8


@asynccontextmanager
async def opened(folder: Path, **limits: int) -> AsyncIterator[World]:
    async with open_world(folder / "data", {"limits": limits}) as world:
        await open_shop(world)
        yield world


@pytest.fixture
async def passing(world: World) -> AsyncIterator[World]:
    """Let time pass automatically in the world, with an unlimited number of connections."""
    await world.session.close()
    world.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def pass_on() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            now = time.monotonic()
            world.clock.advance(now - last)
            last = now

    passing = asyncio.create_task(pass_on())
    async with world.session:
        yield world
    passing.cancel()


class Scanner:
    """A user who sends one form after the other without reading the pages in between."""

    def __init__(self, visitor: Visitor, name: str, token: str) -> None:
        self._visitor, self._name, self._token = visitor, name, token
        self._count = 0
        self.statuses = Counter[int]()

    @classmethod
    async def of(cls, world: World, name: str) -> "Scanner":
        await world.new_user(f"{name}@example.com", "company-admin", ["ACME"])
        visitor = Visitor(world)
        await visitor.sign_in(f"{name}@example.com", PASSWORD)
        return cls(visitor, name, (await visitor.get(NEW)).form_token)

    async def scan(self) -> int:
        self._count += 1
        name = f"{self._name}-{self._count}"
        fields = {"code": name, "name": name, "form_token": self._token, "idempotency_key": f"key-{name}"}
        status = (await self._visitor.post(NEW, fields)).status
        self.statuses[status] += 1
        return status

    async def scan_in_bursts(self, a_second: int, seconds: int) -> None:
        """Send forms without waiting for the previous replies."""
        async with asyncio.TaskGroup() as burst:
            for _ in range(seconds):
                for _ in range(a_second):
                    burst.create_task(self.scan())
                await asyncio.sleep(1)


async def test_the_browsers_of_a_person_share_a_limit(tmp_path: Path) -> None:
    async with opened(tmp_path, pages_per_minute=10) as world:
        first = await signed_in(world)
        browsers = [first, await again(first), await again(first)]
        seen = [(await each.get("/today")).status for each in browsers * 4]
        assert seen == [200] * 10 + [429] * 2
        await world.new_user("ion@example.com", "member", ["ACME"], ["articles:read"])
        other = Visitor(world)
        await other.sign_in("ion@example.com", PASSWORD)
        assert (await other.get("/today")).status == 200


async def test_pages_that_are_open_on_many_devices_keep_nobody_from_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path, pages_per_minute=10) as world:
        first = await signed_in(world)
        devices = [first, *[await again(first) for _ in range(5)]]
        looked = [(await each.get("/today", {"X-By-Itself": "1"})).status for each in devices * 3]
        assert Counter(looked) == {200: 10, 429: 8}, "these share a limit too"
        assert {(await each.get("/today")).status for each in devices} == {200}


async def test_the_guide_is_read_within_the_limit_of_the_person(tmp_path: Path) -> None:
    async with opened(tmp_path, pages_per_minute=6) as world:
        first = await signed_in(world)
        browsers = [first, await again(first)]
        seen = [(await each.get("/docs/security")).status for each in browsers * 4]
        assert seen == [200] * 3 + [429] * 5, "a page of the guide asks twice: also for the language"


async def test_a_change_is_not_counted_as_a_page(tmp_path: Path) -> None:
    async with opened(tmp_path, pages_per_minute=5) as world:
        ana = await Scanner.of(world, "ana")
        assert [await ana.scan() for _ in range(20)] == [303] * 20
        seen = [(await ana._visitor.get("/today")).status for _ in range(5)]
        assert seen == [200] * 3 + [429] * 2, "the page of the form has asked twice"


async def test_a_form_that_is_refused_is_paced_as_a_change_and_not_counted_as_a_page(tmp_path: Path) -> None:
    async with opened(tmp_path, pages_per_minute=8) as world:
        ana = await Scanner.of(world, "ana")
        fields = {"form_token": ana._token, "min_stock": "many"}
        wrong = [(await ana._visitor.post(NEW, fields)).status for _ in range(12)]
        assert wrong == [422] * 12
        assert (await ana._visitor.get("/today")).status == 200


async def test_eight_people_with_bursts_of_twenty_changes_a_second_are_all_answered(passing: World) -> None:
    scanners = [await Scanner.of(passing, f"handheld{number}") for number in range(PEOPLE)]
    await asyncio.gather(*(each.scan_in_bursts(20, 4) for each in scanners))
    assert sum((each.statuses for each in scanners), Counter()) == {303: PEOPLE * 20 * 4}
    made = await passing.rows("SELECT count(*) FROM articles WHERE code LIKE 'handheld%'")
    assert made == [(PEOPLE * 20 * 4,)]


async def test_who_sends_changes_without_end_slows_only_himself(passing: World) -> None:
    hostile, honest = await Scanner.of(passing, "hostile"), await Scanner.of(passing, "honest")
    attack = [asyncio.create_task(_without_end(hostile)) for _ in range(PERSON.waiting + 50)]
    await asyncio.sleep(1)
    before_honest = []
    for _ in range(10):
        done = hostile.statuses[303]
        assert await honest.scan() == 303
        before_honest.append(hostile.statuses[303] - done)
        await asyncio.sleep(0.1)
    for task in attack:
        task.cancel()
    await asyncio.gather(*attack, return_exceptions=True)
    assert max(before_honest) < PERSON.waiting, "a turn behind all waiting changes would come later"
    assert hostile.statuses[429] > 0
    assert PERSON.at_once <= hostile.statuses[303] <= PERSON.at_once + 15 * PERSON.a_second


async def _without_end(scanner: Scanner) -> None:
    while True:
        if await scanner.scan() == 429:
            await asyncio.sleep(0.2)


async def test_a_change_that_cannot_wait_is_refused_with_what_was_typed(world: World) -> None:
    ana = await Scanner.of(world, "ana")
    turns = world.installation.dispatcher.page_writes
    line = turns._line("company", 1, COMPANY, world.clock.monotonic())
    line.left = -11.0 * COMPANY.a_second
    fields = {"code": "TYPED", "name": "Typed", "form_token": ana._token, "idempotency_key": "once"}
    seen = await ana._visitor.post(NEW, fields)
    assert (seen.status, seen.headers["Retry-After"]) == (429, "2")
    assert "Too many changes at the same time, so this change was not made. Send it again in 2 s." in seen.text
    assert 'value="TYPED"' in seen.text
    world.clock.advance(12)
    assert (await ana._visitor.post(NEW, fields)).status == 303


async def test_a_change_that_waits_holds_nothing_and_ends_with_its_client(world: World) -> None:
    ana, ion = await Scanner.of(world, "ana"), await Scanner.of(world, "ion")
    assert [await ana.scan() for _ in range(PERSON.at_once)] == [303] * PERSON.at_once
    line = world.installation.dispatcher.page_writes._lines["person", 2]
    line.left = -9.0 * PERSON.a_second
    waiting = asyncio.create_task(ana.scan())
    async with asyncio.timeout(5):
        while not line.waiting:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
    assert await ion.scan() == 303
    await world.call("POST", "/api/articles", {"code": "X", "name": "X"}, status=201, events=["article.created"])
    waiting.cancel()
    async with asyncio.timeout(2):
        while line.waiting:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
    assert await world.rows("SELECT count(*) FROM articles WHERE code LIKE 'ana-%'") == [(PERSON.at_once,)]


async def test_who_is_shut_out_while_a_change_waits_changes_nothing(passing: World) -> None:
    ana = await Scanner.of(passing, "ana")
    assert [await ana.scan() for _ in range(PERSON.at_once)] == [303] * PERSON.at_once
    line = passing.installation.dispatcher.page_writes._lines["person", 2]
    line.left = -1.0 * PERSON.a_second
    waiting = asyncio.create_task(ana.scan())
    async with asyncio.timeout(5):
        while not line.waiting:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
    await passing.installation.platform.write(lambda tx: disable_user(tx, "ana@example.com"))
    assert await waiting == 401
    made = await passing.rows("SELECT count(*) FROM articles WHERE code LIKE 'ana-%'")
    assert made == [(PERSON.at_once,)]


async def test_programs_do_not_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any) -> bool:
        raise AssertionError

    monkeypatch.setattr(world.installation.dispatcher.page_writes, "turn", refuse)
    await world.call("POST", "/api/articles", {"code": "X", "name": "X"}, status=201, events=["article.created"])
    ana = await Scanner.of(world, "ana")
    assert await ana.scan() == 500
