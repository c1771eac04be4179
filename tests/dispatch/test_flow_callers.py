"""Tests of what the dispatcher tells a flow about its caller."""

from dataclasses import replace

import pytest

from tests.support.world import World
from wmsd.contract.context import Caller
from wmsd.contract.operation import Operation, operation
from wmsd.db.engine.sqlite import sqlite3
from wmsd.dispatch.call import Call


class Doorbell:
    """A service that records its callers."""

    def __init__(self) -> None:
        self.callers: list[str | None] = []


@operation(tag="Discovery", answer="nothing", scope="platform", limit="open", signed_in=False)
async def ring(service: Doorbell, caller: Caller | None) -> None:
    """Ring."""
    service.callers.append(None if caller is None else caller.actor.name)


async def rung(world: World, declared: Operation, token: str | None) -> int:
    return (
        await world.installation.dispatcher.dispatch(Call(declared, "GET", "/", "127.0.0.1", "r-1", token=token))
    ).status


async def test_what_needs_no_token_is_told_who_asks_if_that_is_known(world: World) -> None:
    bell = Doorbell()
    world.installation.dispatcher.add_service(bell)
    for token in (world.token, None, "forged", f"{world.token}x"):
        assert (
            await world.installation.dispatcher.dispatch(Call(ring, "GET", "/", "127.0.0.1", "r-1", token=token))
        ).status == 204
    assert bell.callers == ["admin@example.com (test)", None, None, None]


async def test_what_needs_no_token_is_done_where_nobody_can_be_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(token: str | None, address: str) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    bell = Doorbell()
    world.installation.dispatcher.add_service(bell)
    monkeypatch.setattr(world.installation.access, "caller", fail)
    assert await rung(world, ring, world.token) == 204
    assert bell.callers == [None]


async def test_what_needs_a_token_is_told_whose_it_is(world: World) -> None:
    bell = Doorbell()
    world.installation.dispatcher.add_service(bell)
    declared = replace(ring, signed_in=True, limit="user")
    for token, status in ((world.token, 204), ("forged", 401)):
        assert await rung(world, declared, token) == status
    assert bell.callers == ["admin@example.com (test)"]
