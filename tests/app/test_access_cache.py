"""What is held in memory of who may do what: a change that comes while it is looked up is not missed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from tests.support.planner import new_site
from tests.support.shop import open_shop
from tests.support.world import ETSM, KERNEL, World
from wmsd.db.sqlite import connect

LIST = "/api/articles"
TURNS = 8
"""More than any look-up takes of the event loop's turns: the change is made after each of them."""


@dataclass(frozen=True)
class Case:
    """`change` is what makes the request refused."""

    look_up: Callable[[World], Awaitable[object]]
    change: str
    path: str
    status: int = 401


def caller(world: World) -> Awaitable[object]:
    return world.site.access.caller(world.token)


CASES = {
    "a token": Case(caller, "UPDATE tokens SET revoked_at = '2026'", LIST),
    "a user": Case(caller, "UPDATE users SET disabled_at = '2026'", LIST),
    "the signing keys": Case(caller, "DELETE FROM signing_keys", LIST),
    "a module": Case(
        lambda world: world.site.access.company(world.company),
        "DELETE FROM company_modules WHERE module = 'articles'",
        LIST,
        403,
    ),
    "a platform token": Case(
        lambda world: world.site.access.kernel(world.kernel_token),
        "UPDATE kernel_tokens SET revoked_at = '2026'",
        f"{KERNEL}stats",
    ),
    "a site": Case(
        lambda world: world.site.access.site_caller(world.token),
        "UPDATE sites SET token_hash = NULL",
        f"{ETSM}/openapi.json",
    ),
}


@pytest.fixture
async def manned(world: World) -> World:
    """An installation that everybody has a token for."""
    await world.open_kernel()
    await open_shop(world)
    return world


def changed_by_another(world: World, sql: str) -> None:
    """As the command line does it, and noticed as the job notices it."""
    other = connect(world.site.folder.platform_file)
    other.execute(sql)
    other.close()
    world.site.access.forget()


@pytest.mark.parametrize("turns", range(TURNS))
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_what_changes_during_a_look_up_is_not_remembered_as_it_was(
    manned: World, case: Case, turns: int
) -> None:
    world = manned
    if case.path.startswith(ETSM):
        world.token = await new_site(world, "MAIN", 1)
    looking = asyncio.ensure_future(case.look_up(world))
    for _ in range(turns):
        await asyncio.sleep(0)
    changed_by_another(world, case.change)
    await asyncio.gather(looking, return_exceptions=True)
    assert (await world.send("GET", case.path)).status == case.status
