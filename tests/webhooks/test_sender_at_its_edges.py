"""What the sender does when a result, a look and a load of the same rows cross."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tests.support.world import World
from wmsd.app.webhooks import new_sender
from wmsd.db.database import Database
from wmsd.db.sqlite import sqlite3
from wmsd.webhooks import loader as loader_module
from wmsd.webhooks.client import Answer
from wmsd.webhooks.deliveries import DueNow
from wmsd.webhooks.dialler import Dialler
from wmsd.webhooks.lookout import Companies
from wmsd.webhooks.sender import Sender

SECRET = "s" * 32


@dataclass
class Client:
    """Receivers that answer when they may; `asked` has each request's event id, `answers` what comes next."""

    status: int = 200
    seconds: float = 0.0
    answers: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, party: int) -> Answer:
        self.asked.append(headers["X-Webhook-Id"])
        answer = self.answers.pop(0) if self.answers else ""
        await asyncio.sleep(self.seconds)
        await (asyncio.Event() if answer == "hangs" else self.may_answer).wait()
        return Answer(500 if answer == "fails" else self.status, {}, b"", False, 0.001, None)


@dataclass
class Scene:
    world: World
    sender: Sender
    client: Client

    async def subscribe(self, **fields: Any) -> None:
        body = {"name": "R", "url": "https://receiver.example/", "events": ["*"], "secret": SECRET, **fields}
        await self.world.call("POST", "/api/webhooks", body, status=201)

    async def articles(self, first: int, last: int) -> None:
        """An event for each."""
        rows = "".join(f"A{number},x\n" for number in range(first, last + 1))
        await self.world.import_csv("articles", f"code,name\n{rows}")

    async def statuses(self) -> list[str]:
        rows = await self.world.rows("SELECT status FROM webhook_deliveries ORDER BY id")
        return [status for (status,) in rows]

    async def event_ids(self) -> list[str]:
        return [id for (id,) in await self.world.rows("SELECT id FROM events ORDER BY sequence")]

    def ask(self, companies: Companies) -> None:
        """From here on the sender asks this."""
        for part in (self.sender._lookout, self.sender._loader, self.sender._dispatcher):
            part._companies = companies

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not holds():  # noqa: ASYNC110  # nothing tells of it
                await asyncio.sleep(0.005)

    async def at_rest(self) -> None:
        await asyncio.sleep(0.1)


def name_of(action: Any) -> str:
    name: str = getattr(action, "func", action).__qualname__
    return name


@asynccontextmanager
async def sending(world: World) -> AsyncIterator[Scene]:
    client = Client()
    sender = new_sender(world.site, cast(Dialler, client))
    await sender.start()
    try:
        yield Scene(world, sender, client)
    finally:
        client.may_answer.set()
        await sender.stop()


async def test_a_delivery_whose_result_is_written_while_it_is_loaded_is_not_sent_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sending(world) as scene:
        await scene.subscribe()
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == 1)
        has_read, may_go_on = asyncio.Event(), asyncio.Event()
        read = Database.read

        async def slow_load(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if "_load" in name_of(action) and not has_read.is_set():
                has_read.set()
                await may_go_on.wait()
            return found

        monkeypatch.setattr(Database, "read", slow_load)
        await scene.articles(2, 2)
        await has_read.wait()
        scene.client.may_answer.set()
        while "delivered" not in await scene.statuses():  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.005)
        await scene.articles(3, 3)  # what is committed while it loads is found as well
        await scene.at_rest()
        may_go_on.set()
        await scene.until(lambda: len(scene.client.asked) >= 3)
        await scene.at_rest()
        assert scene.client.asked == await scene.event_ids()
        assert await scene.statuses() == ["delivered"] * 3


async def test_what_cannot_be_loaded_is_loaded_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        read, failures = Database.read, ["_see", "_load"]

        async def failing(database: Database, action: Any, *rest: Any) -> Any:
            if failures and failures[0] in name_of(action):
                failures.pop(0)
                raise sqlite3.OperationalError("disk I/O error")
            return await read(database, action, *rest)

        monkeypatch.setattr(Database, "read", failing)
        await scene.articles(1, 1)
        for _ in range(2):
            await scene.at_rest()
            assert scene.client.asked == []
            world.clock.advance(1)
            await scene.sender.tick()
        await scene.until(lambda: len(scene.client.asked) == 1)
        assert failures == []


@pytest.mark.parametrize("how", ["gone", "by hand"])
async def test_nothing_more_is_sent_to_what_is_switched_off(world: World, how: str) -> None:
    async with sending(world) as scene:
        await scene.subscribe()
        await scene.articles(1, 200)
        await scene.until(lambda: len(scene.client.asked) == 1)
        if how == "gone":
            scene.client.status, scene.client.seconds = 410, 0.01
        else:
            await world.call("PATCH", "/api/webhooks/1", {"active": False})
            await scene.at_rest()
        scene.client.may_answer.set()
        await scene.at_rest()
        asked = len(scene.client.asked)
        await scene.articles(201, 201)
        await scene.at_rest()
        assert len(scene.client.asked) == asked
        assert asked < 50, "what was begun until that was written down"
        await world.call("PATCH", "/api/webhooks/1", {"active": True})
        scene.client.status = 200
        await scene.until(lambda: len(set(scene.client.asked)) == 200)


@pytest.mark.parametrize(("count", "hosts", "most"), [(20, 1, 16), (150, 150, 64)])
async def test_a_company_whose_receivers_all_hang_holds_up_no_other(
    world: World, count: int, hosts: int, most: int
) -> None:
    """Neither at the host of the other's receiver nor at hosts of their own."""
    async with sending(world) as scene:
        for number in range(count):
            await scene.subscribe(url=f"https://receiver{number % hosts}.example/")
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == most)
        await scene.at_rest()
        world.company = await world.new_company("OTHER")
        await scene.subscribe(url="https://receiver0.example/")
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == most + 1)


async def test_what_comes_due_does_not_wait_for_one_that_hangs(world: World) -> None:
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        scene.client.answers = ["fails", "succeeds", "succeeds", "hangs"]
        for number in range(1, 5):
            await scene.articles(number, number)
            await scene.until(lambda sent=number: len(scene.client.asked) == sent)  # type: ignore[misc]  # the loop's own
            await scene.at_rest()
        assert await scene.statuses() == ["pending", "delivered", "delivered", "pending"]
        await scene.sender.tick()  # which finds what the others wrote
        await scene.at_rest()
        world.clock.advance(31)
        await scene.sender.tick()
        await scene.until(lambda: len(scene.client.asked) == 5)
        assert scene.client.asked[4] == scene.client.asked[0]


async def test_what_is_found_while_an_empty_load_ends_is_not_left_lying(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look that finds it cannot begin a load, for one is under way that has read before."""
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        has_read, may_go_on = asyncio.Event(), asyncio.Event()
        read = Database.read

        async def slow_load(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if "_load" in name_of(action) and not has_read.is_set():
                has_read.set()
                await may_go_on.wait()
                target, _ = found
                return target, DueNow([], is_all=True)
            return found

        monkeypatch.setattr(Database, "read", slow_load)
        await scene.articles(1, 1)
        await has_read.wait()
        await scene.articles(2, 2)
        await scene.at_rest()
        may_go_on.set()
        await scene.until(lambda: len(scene.client.asked) == 2)


async def test_large_bodies_are_loaded_a_few_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with sending(world) as scene:
        read = Database.read
        loaded: list[list[int]] = []

        async def seen(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if found and "_load" in name_of(action):
                loaded.append([len(due.body) for due in found[1].found])
            return found

        monkeypatch.setattr(loader_module, "LARGEST_LOAD", 1000)
        monkeypatch.setattr(Database, "read", seen)
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.articles(1, 7)
        await scene.until(lambda: len(scene.client.asked) == 7)
        await scene.at_rest()
        assert scene.client.asked == await scene.event_ids()
        assert await scene.statuses() == ["delivered"] * 7
        assert sum(map(len, loaded)) == 7
        assert max(map(len, loaded)) > 1
        assert all(sum(sizes[:-1]) < 1000 for sizes in loaded)


async def test_what_is_loaded_while_it_is_switched_off_is_not_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        has_read, may_go_on = asyncio.Event(), asyncio.Event()
        read = Database.read

        async def slow_load(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if "_load" in name_of(action) and not has_read.is_set():
                has_read.set()
                await may_go_on.wait()
            return found

        monkeypatch.setattr(Database, "read", slow_load)
        await scene.articles(1, 1)
        await has_read.wait()
        await world.call("PATCH", "/api/webhooks/1", {"active": False})
        await scene.at_rest()
        may_go_on.set()
        await scene.at_rest()
        assert scene.client.asked == []
        await world.call("PATCH", "/api/webhooks/1", {"active": True})
        await scene.until(lambda: len(scene.client.asked) == 1)


async def test_a_clock_that_was_set_back_while_nothing_could_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sending(world) as scene:
        scene.client.may_answer.set()
        scene.client.answers = ["fails"]
        await scene.subscribe()
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == 1)
        await scene.at_rest()
        write, failures = Database.write, ["clamp"]

        async def failing(database: Database, action: Any, *rest: Any) -> Any:
            if failures and failures[0] in name_of(action):
                failures.pop(0)
                raise sqlite3.OperationalError("database is locked")
            return await write(database, action, *rest)

        monkeypatch.setattr(Database, "write", failing)
        world.clock.set_back(365 * 86_400)
        await scene.sender.tick()
        await scene.at_rest()
        assert failures == []
        for _ in range(2):
            world.clock.advance(31)
            await scene.sender.tick()
            await scene.at_rest()
        assert len(scene.client.asked) == 2


@pytest.mark.parametrize("is_off", [False, True])
async def test_what_could_not_be_sent_is_sent_soon_and_no_storm_comes_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch, is_off: bool
) -> None:
    """The platform's file fails when it is asked whether the company may send; or it may not, on a full disk."""
    async with sending(world) as scene:
        await scene.subscribe()
        await scene.at_rest()
        asked = 0
        companies = world.site.access.companies

        async def failing() -> Any:
            nonlocal asked
            asked += 1
            if not is_off:
                raise sqlite3.OperationalError("disk I/O error")
            return await companies()

        async def full(*_: Any) -> Any:
            raise sqlite3.OperationalError("database or disk is full")

        await scene.articles(1, 100)
        await scene.until(lambda: len(scene.client.asked) == 1)
        await scene.at_rest()
        if is_off:
            await world.set_module("ACME", "webhooks", False)
            monkeypatch.setattr(Database, "write", full)
        scene.ask(failing)
        scene.client.may_answer.set()
        await asyncio.sleep(0.5)
        assert asked < 20
        assert len(scene.client.asked) < 5
        scene.ask(companies)
        monkeypatch.undo()
        if is_off:
            await world.set_module("ACME", "webhooks", True)
        for _ in range(3):
            world.clock.advance(1)
            await scene.sender.tick()
            await scene.at_rest()
        await scene.until(lambda: len(set(scene.client.asked)) == 100)


@pytest.mark.parametrize(("status", "becomes"), [(200, "delivered"), (500, "skipped")])
async def test_what_was_skipped_is_not_sent_though_it_was_loaded_before(
    world: World, status: int, becomes: str
) -> None:
    """What was under way when it was skipped has its attempt in the log."""
    async with sending(world) as scene:
        await scene.subscribe()
        await scene.articles(1, 10)
        await scene.until(lambda: len(scene.client.asked) == 1)
        await world.set_module("ACME", "webhooks", False)
        await scene.articles(11, 11)
        await scene.at_rest()
        assert await scene.statuses() == ["skipped"] * 11
        await world.set_module("ACME", "webhooks", True)
        scene.client.status = status
        scene.client.may_answer.set()
        await scene.at_rest()
        assert len(scene.client.asked) == 1
        assert await scene.statuses() == [becomes] + ["skipped"] * 10
        assert await world.rows("SELECT delivery_id, status FROM webhook_attempts") == [(1, status)]


async def test_a_company_has_no_more_in_memory_than_its_share(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many subscriptions it has, whose receivers all hang."""
    monkeypatch.setattr(loader_module, "LARGEST_OF_COMPANY", 3000)
    async with sending(world) as scene:
        for number in range(30):
            await scene.subscribe(url=f"https://receiver{number}.example/")
        await scene.articles(1, 20)
        await scene.until(lambda: len(scene.client.asked) == 30)
        await scene.at_rest()
        feeds = scene.sender._loader._feeds[world.company].values()
        largest = max(len(due.body or "") for feed in feeds for due in feed.ready)
        held = sum(len(due.body or "") for feed in feeds for due in feed.ready)
        assert held == sum(feed.size for feed in feeds)
        assert held <= 3000 + 30 * largest < 30 * 20 * largest
        scene.client.may_answer.set()
        await scene.until(lambda: len(scene.client.asked) == 30 * 20)
        await scene.at_rest()
        assert set(await scene.statuses()) == {"delivered"}
        assert sum(feed.size + feed.reserved for feed in feeds) == 0


async def test_subscriptions_that_were_deleted_are_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader_module, "MOST_SUBSCRIPTIONS", 2)
    async with sending(world) as scene:
        scene.client.may_answer.set()
        for number in range(1, 9):
            await scene.subscribe()
            await scene.articles(number, number)
            await scene.until(lambda sent=number: len(scene.client.asked) == sent)  # type: ignore[misc]  # the loop's own
            await scene.at_rest()
            await world.call("DELETE", f"/api/webhooks/{number}", status=204)
            await scene.at_rest()
        assert len(scene.sender._loader._feeds[world.company]) <= 3
