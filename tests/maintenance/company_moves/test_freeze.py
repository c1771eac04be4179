"""A freeze waits for everything that may still write, and fails if that takes too long."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.support.world import World
from wmsd.data_folder.lending import Session
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.company_moves import freeze
from wmsd.maintenance.company_moves.freeze import FREEZE, THAW, Freezer
from wmsd.tenants.companies import store

ASKED = ["ACME", "somebody"]


def freezer(world: World, at_rest: Callable[[int], bool] = lambda _: True) -> Freezer:
    return Freezer(world.installation, at_rest, lambda _: None)


async def ask(freezer: Freezer, verb: str = FREEZE) -> Any:
    async with AsyncExitStack() as ends:
        return await freezer.verbs[verb](Session(ends), ASKED)


async def frozen(world: World) -> dict[str, str]:
    return await world.installation.platform.read(store.frozen)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeze, "DRAIN_SECONDS", 0.2)


@pytest.mark.usefixtures("impatient")
async def test_what_does_not_end_is_named_and_the_freeze_given_up(world: World) -> None:
    [company] = [each for each in (await world.installation.access.companies()).values() if each.code == "ACME"]
    file = world.installation.files.file(company.id)
    with pytest.raises(StorageError, match=r"webhook delivery of ACME is still running .* is not frozen"):
        await ask(freezer(world, lambda _: False))
    with (
        world.installation.freezes.flow(company),
        pytest.raises(StorageError, match="A request of ACME is still running"),
    ):
        await ask(freezer(world))
    await file.lend()
    with pytest.raises(StorageError, match=r"A command \(such as an import\) of ACME is still running"):
        await ask(freezer(world))
    await file.take_back()
    assert await frozen(world) == {}
    await world.call("POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"])


@pytest.mark.usefixtures("impatient")
async def test_a_freeze_that_was_there_stays_when_another_one_is_given_up(world: World) -> None:
    done = await ask(freezer(world))
    assert done["was_already"] is False
    with pytest.raises(StorageError, match="ACME is still frozen"):
        await ask(freezer(world, lambda _: False))
    assert await frozen(world) == {"ACME": done["since"]}
    assert await ask(freezer(world)) == {"since": done["since"], "was_already": True}
    assert (await ask(freezer(world), THAW), await ask(freezer(world), THAW)) == (True, False)


async def test_a_freeze_waits_for_the_end_of_what_is_under_way(world: World) -> None:
    is_over = asyncio.Event()
    freezing_it = asyncio.ensure_future(ask(freezer(world, lambda _: is_over.is_set())))
    await asyncio.sleep(0.2)
    assert not freezing_it.done()
    await world.call("POST", "/api/articles", {"code": "A", "name": "A"}, status=503)
    is_over.set()
    assert (await freezing_it)["was_already"] is False
