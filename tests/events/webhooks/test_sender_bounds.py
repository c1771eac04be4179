"""Tests of what one company's webhooks may take from other companies and from memory."""

import asyncio
from typing import Any

import pytest

from tests.events.webhooks.patient_receivers import name_of, sending
from tests.support.world import World
from wmsd.db.engine.database import Database
from wmsd.events.webhooks.sending import subscription_queue

LONGEST = 30.0


@pytest.mark.parametrize(("count", "hosts", "most"), [(20, 1, 16), (150, 150, 64)])
async def test_a_company_whose_receivers_all_hang_holds_up_no_other(
    world: World, count: int, hosts: int, most: int
) -> None:
    """A company whose receivers all hang does not delay others, whether they share the host of a
    receiver or not.
    """
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


async def test_large_bodies_are_loaded_a_few_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with sending(world) as scene:
        read = Database.read
        loaded: list[list[int]] = []

        async def seen(database: Database, action: Any, *rest: Any) -> Any:
            found = await read(database, action, *rest)
            if found and "due_page" in name_of(action):
                loaded.append([len(due.body) for due in found.found])
            return found

        monkeypatch.setattr(subscription_queue, "LARGEST_PAGE", 1000)
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


async def test_a_company_has_no_more_in_memory_than_its_share(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A company has no more in memory than its share, however many subscriptions with hanging receivers it has."""
    monkeypatch.setattr(subscription_queue, "LARGEST_OF_COMPANY", 3000)
    async with sending(world) as scene:
        for number in range(30):
            await scene.subscribe(url=f"https://receiver{number}.example/")
        await scene.articles(1, 20)
        await scene.until(lambda: len(scene.client.asked) == 30)
        await scene.at_rest()
        queues = scene.sender._queues[world.company].values()
        largest = max(len(due.body or "") for queue in queues for due in queue.ready)
        held = sum(len(due.body or "") for queue in queues for due in queue.ready)
        assert held == sum(queue.size for queue in queues)
        assert held <= 3000 + 30 * largest < 30 * 20 * largest
        scene.client.may_answer.set()
        await scene.until(lambda: len(scene.client.asked) == 30 * 20)
        async with asyncio.timeout(LONGEST):
            while set(await scene.statuses()) != {"delivered"}:  # noqa: ASYNC110  # nothing reports the change
                await asyncio.sleep(0.02)
        await scene.at_rest()
        assert sum(queue.size + queue.reserved for queue in queues) == 0


async def test_subscriptions_that_were_deleted_are_forgotten(world: World) -> None:
    async with sending(world) as scene:
        scene.client.may_answer.set()
        for number in range(1, 9):
            await scene.subscribe()
            await scene.articles(number, number)
            await scene.until(lambda sent=number: len(scene.client.asked) == sent)  # type: ignore[misc]  # the loop's own
            await scene.at_rest()
            await world.call("DELETE", f"/api/webhooks/{number}", status=204)
            await scene.at_rest()
        assert len(scene.sender._queues[world.company]) == 0


async def test_subscriptions_that_have_nothing_due_have_no_task(world: World) -> None:
    """Subscriptions with nothing due have no task, because a site may have thousands of subscriptions."""
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        before = len(asyncio.all_tasks())
        for _ in range(29):
            await scene.subscribe()
        await scene.articles(1, 2)
        await scene.until(lambda: len(scene.client.asked) == 60)
        async with asyncio.timeout(LONGEST):
            while set(await scene.statuses()) != {"delivered"}:  # noqa: ASYNC110  # nothing reports the change
                await asyncio.sleep(0.02)
        await scene.at_rest()
        assert len(asyncio.all_tasks()) <= before
