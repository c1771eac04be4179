"""Tests of a sender when a result, a scan and a load of the same rows overlap."""

import asyncio
from typing import Any

import pytest

from tests.events.webhooks.patient_receivers import name_of, sending
from tests.support.world import World
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import sqlite3
from wmsd.events.webhooks.deliveries.due_store import DuePage


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
            if "due_page" in name_of(action) and not has_read.is_set():
                has_read.set()
                await may_go_on.wait()
            return found

        monkeypatch.setattr(Database, "read", slow_load)
        await scene.articles(2, 2)
        scene.client.may_answer.set()
        await has_read.wait()
        while "delivered" not in await scene.statuses():  # noqa: ASYNC110  # nothing reports the change
            await asyncio.sleep(0.005)
        await scene.articles(3, 3)  # what is committed while it loads is found too
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
        read, failures = Database.read, ["_see", "due_page"]

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
    """A delivery that is found while an empty load ends is not forgotten.

    The scan that finds it cannot start a load, because a load that has already read is running.
    """
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        has_read, may_go_on = asyncio.Event(), asyncio.Event()
        read = Database.read

        async def slow_load(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if "due_page" in name_of(action) and not has_read.is_set():
                has_read.set()
                await may_go_on.wait()
                return DuePage(found.target, [], is_all=True)
            return found

        monkeypatch.setattr(Database, "read", slow_load)
        await scene.articles(1, 1)
        await has_read.wait()
        await scene.articles(2, 2)
        await scene.at_rest()
        may_go_on.set()
        await scene.until(lambda: len(scene.client.asked) == 2)


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
            if "due_page" in name_of(action) and not has_read.is_set():
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
    """Deliveries that could not be sent are sent soon, without a storm.

    The platform's file fails when the sender asks whether the company may send. Or the company may not send, and
    the disk is full.
    """
    async with sending(world) as scene:
        await scene.subscribe()
        await scene.at_rest()
        asked = 0
        companies = world.installation.access.companies

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
    """Skipped deliveries are not sent even if they were loaded before.

    If an attempt was running when its delivery was skipped, the log has the attempt.
    """
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
