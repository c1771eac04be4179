"""A person can be signed in at 20 places: one more sign-in ends the session that was unused for the longest
time.
"""

import asyncio
import re
from pathlib import Path

import pytest

import wmsd
from tests.support.world import World
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER
from wmsd.tenants.keys.bearers import secret_hash

ADMIN, OTHER = 1, 2


async def begin(world: World, user_id: int = ADMIN) -> str:
    return await world.installation.platform.write(
        lambda tx: sessions.begin(tx, user_id, "203.0.113.9", "a browser", None), is_quiet=True
    )


async def hashes(world: World, user_id: int = ADMIN) -> set[str]:
    sql = "SELECT hash FROM sessions WHERE user_id = ?"
    return {hash_ for (hash_,) in await world.installation.platform.read(lambda tx: tx.rows(sql, (user_id,)))}


async def is_in(world: World, secret: str) -> bool:
    try:
        await world.installation.access.session_caller(secret, "203.0.113.9", asks_by_itself=True)
    except Exception as problem:
        assert str(problem) == sessions.TOO_MANY_PLACES
        return False
    return True


async def test_the_one_that_was_used_the_longest_ago_ends(world: World) -> None:
    secrets = []
    for _ in range(MOST_OF_A_USER):
        secrets.append(await begin(world))
        world.clock.advance(60)
    # the use of the session is not written to the database yet
    await world.installation.access.session_caller(secrets[0], "203.0.113.9")
    secrets.append(await begin(world))
    assert [await is_in(world, each) for each in secrets[:3]] == [True, False, True]
    assert await hashes(world) == {secret_hash(each) for each in secrets if each != secrets[1]}
    audit = "SELECT action, subject FROM audit ORDER BY id DESC LIMIT 1"
    last = await world.installation.platform.read(lambda tx: tx.row(audit))
    assert last == ("session.end 1 oldest", "admin@example.com")


async def test_it_is_over_from_the_next_request_on_though_it_was_in_memory(world: World) -> None:
    first = await begin(world)
    world.clock.advance(1)
    assert await is_in(world, first)
    for _ in range(MOST_OF_A_USER):
        await begin(world)
    assert not await is_in(world, first)


async def test_one_that_is_over_by_its_age_ends_first_though_it_was_used_last(world: World) -> None:
    idle, most = world.installation.settings.sessions.lifetimes
    old = await begin(world)
    for _ in range(int(most / idle * 2) - 1):
        world.clock.advance(idle.total_seconds() / 2)
        await use(world, old)
    others = [await begin(world) for _ in range(MOST_OF_A_USER - 1)]
    world.clock.advance(idle.total_seconds() / 2 - 1)
    await use(world, old)
    world.clock.advance(1)
    secret = await begin(world)
    assert await hashes(world) == {secret_hash(each) for each in (*others, secret)}


async def use(world: World, secret: str) -> None:
    await world.installation.access.session_caller(secret, "203.0.113.9")
    await world.installation.access.write_session_uses()


async def test_a_clock_that_was_set_back_ends_no_new_session(world: World) -> None:
    for _ in range(MOST_OF_A_USER):
        await begin(world)
    world.clock.set_back(300)
    assert await is_in(world, await begin(world))
    assert len(await hashes(world)) == MOST_OF_A_USER


async def test_sign_ins_at_the_same_moment_get_no_further(world: World) -> None:
    secrets = await asyncio.gather(*(begin(world) for _ in range(3 * MOST_OF_A_USER)))
    assert [await is_in(world, each) for each in secrets].count(True) == MOST_OF_A_USER


async def test_an_installation_that_has_more_of_them_already_keeps_the_last(world: World) -> None:
    def add(tx: Transaction) -> None:
        for number in range(100):
            row = {
                "hash": f"{number}",
                "user_id": ADMIN,
                "now": tx.timestamp,
                "address": "",
                "agent": "",
                "reach": None,
            }
            tx.insert(sessions.INSERT, row)

    await world.installation.platform.write(add)
    secret = await begin(world)
    assert await hashes(world) == {secret_hash(secret), *(str(number) for number in range(81, 100))}


async def test_nobody_else_is_signed_out(world: World) -> None:
    await world.new_user("ana@example.com", "platform-admin")
    other = await begin(world, OTHER)
    for _ in range(2 * MOST_OF_A_USER):
        await begin(world)
    assert await is_in(world, other)
    assert len(await hashes(world, OTHER)) == 1


async def test_a_sign_in_that_was_rolled_back_has_ended_nothing(world: World) -> None:
    secrets = [await begin(world) for _ in range(MOST_OF_A_USER)]

    def fail(tx: Transaction) -> None:
        sessions.begin(tx, ADMIN, "203.0.113.9", "a browser", None)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await world.installation.platform.write(fail)
    assert [await is_in(world, each) for each in secrets] == [True] * MOST_OF_A_USER


def test_there_is_one_place_where_sessions_are_made() -> None:
    """With a single place, no way to sign in avoids the limit."""
    found = [
        path.name
        for path in Path(wmsd.__file__).parent.rglob("*.py")
        for _ in re.findall(r"INTO\s+sessions|sessions\.INSERT", path.read_text(encoding="utf-8"))
    ]
    assert found == ["sessions.py"]
