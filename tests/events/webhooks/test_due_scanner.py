"""Tests of the due scanner: at the start and at each tick it knows what is due, without reading every company."""

from datetime import timedelta

import pytest

from tests.events.webhooks.patient_receivers import Client, Scene, sending
from tests.support.world import World
from wmsd.db.files.company_files import CompanyFiles


async def test_companies_without_subscriptions_are_not_opened_at_the_start(world: World) -> None:
    for number in range(20):
        await world.new_company(f"C{number}")
    for database in world.installation.files.databases:
        await database.close()
    async with sending(world) as scene:
        await scene.until(lambda: not scene.sender._scanner._unknown)
        await scene.at_rest()
        assert world.opened == []


async def test_what_was_due_when_the_process_ended_is_sent_after_the_start(world: World) -> None:
    before = Scene(world, world.sender, Client())
    await before.subscribe()
    await before.articles(1, 3)
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.until(lambda: len(scene.client.asked) == 3)
        assert sorted(scene.client.asked) == sorted(await scene.event_ids())


async def test_the_first_subscription_of_a_company_is_served_at_once(world: World) -> None:
    async with sending(world) as scene:
        await scene.until(lambda: not scene.sender._scanner._unknown)
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.articles(1, 2)
        await scene.until(lambda: len(scene.client.asked) == 2)


async def test_a_tick_looks_at_no_file_of_a_company_with_nothing_due(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    whole = CompanyFiles.signature

    def signature(files: CompanyFiles, company: int) -> tuple[int, ...]:
        looked.append(company)
        return whole(files, company)

    monkeypatch.setattr(world.installation.files, "_alone", True)
    monkeypatch.setattr(CompanyFiles, "signature", signature)
    async with sending(world) as scene:
        await scene.until(lambda: not scene.sender._scanner._unknown)
        await scene.sender.tick()
        assert looked == []
        file = world.installation.files.file(world.company)
        await file.lend()
        await scene.sender.tick()
        await scene.sender.tick()
        assert looked == [world.company] * 2, "another process may write it"
        await file.take_back()
        await scene.sender.tick()
        await scene.sender.tick()
        assert looked == [world.company] * 3, "once more, for what it has written last"


async def test_what_comes_due_later_is_wanted_then_and_once(world: World) -> None:
    async with sending(world) as scene:
        scene.client.answers = ["fails"]
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == 1)
        await scene.at_rest()
        await scene.sender.tick()
        await scene.at_rest()
        assert len(scene.client.asked) == 1
        world.clock.advance(timedelta(minutes=2).total_seconds())
        await scene.sender.tick()
        await scene.until(lambda: len(scene.client.asked) == 2)
        await scene.at_rest()
        assert await scene.statuses() == ["delivered"]


async def test_a_moment_is_noted_once_however_often_it_is_found(world: World) -> None:
    async with sending(world) as scene:
        scanner = scene.sender._scanner
        await scene.until(lambda: not scanner._unknown)
        for _ in range(100):
            scanner._note_due(world.company, 10**15)
        assert len(scanner._by_time) == 1
