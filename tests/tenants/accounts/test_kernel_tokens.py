"""Platform tokens: the current token, the replaced tokens that still work for a day, and what is stored and
reported.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.base.problems import Problem
from wmsd.db.engine.database import Database
from wmsd.db.migrations import PLATFORM, create_file
from wmsd.tenants.accounts import kernel_tokens
from wmsd.tenants.accounts.kernel_tokens import PREFIX, MadeKernelToken, accepted
from wmsd.tenants.keys.bearers import GRACE, owner_of

AN_INSTANT = timedelta(milliseconds=1)
"""The smallest difference between two stored times."""
NOON, LATER, NEXT_NOON = "2026-11-20T12:00:00.000Z", "2026-11-20T12:01:00.000Z", "2026-11-21T12:00:00.000Z"


class Scene:
    def __init__(self, path: Path) -> None:
        create_file(path, PLATFORM)
        self.clock = SteeredClock()
        self.database = Database(path, OrderedClock(self.clock), CountedIds())

    async def create(self) -> MadeKernelToken:
        return await self.database.write(kernel_tokens.create)

    async def rotate(self, at_once: bool = False) -> MadeKernelToken:
        return await self.database.write(lambda tx: kernel_tokens.rotate(tx, at_once))

    async def revoke(self, token_id: int) -> bool:
        return await self.database.write(lambda tx: kernel_tokens.revoke(tx, token_id))

    async def holding(self, tokens: Sequence[MadeKernelToken]) -> list[int]:
        """Return the ids of the tokens that are accepted now."""
        known = await self.database.read(accepted)
        return [made.id for made in tokens if owner_of(made.token, known, self.clock.now()) == made.id]

    async def listed(self) -> list[dict[str, Any]]:
        return await self.database.read(kernel_tokens.every)

    async def audited(self) -> list[tuple[str, str]]:
        return await self.database.read(lambda tx: tx.rows("SELECT action, subject FROM audit ORDER BY id"))


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path / "platform.db")
    yield scene
    await scene.database.close()


def test_the_grace_is_a_day() -> None:
    assert timedelta(days=1) == GRACE


async def test_a_token_is_made_and_holds(scene: Scene) -> None:
    made = await scene.create()
    assert made == MadeKernelToken(id=1, token=f"{PREFIX}secret-{1:08x}{0:024x}", created_at=NOON)
    known = await scene.database.read(accepted)
    assert [each.expires_at for each in known] == [None]
    assert await scene.holding([made]) == [1]
    for wrong in ("", PREFIX, made.token[:-1], f"{made.token}x", made.token.upper(), known[0].hash, "\ud800"):
        assert owner_of(wrong, known, scene.clock.now()) is None


async def test_only_its_hash_is_kept(scene: Scene) -> None:
    made = await scene.create()
    rows = await scene.database.read(lambda tx: tx.rows("SELECT * FROM kernel_tokens"))
    assert made.token not in str(rows)


async def test_there_is_one_that_has_not_been_replaced(scene: Scene) -> None:
    with pytest.raises(Problem) as none:
        await scene.rotate()
    assert (none.value.code, none.value.message) == (
        "VALIDATION_FAILED",
        "There is no platform token to replace. To create one, run `wmsd kernel-token create`.",
    )
    await scene.create()
    scene.clock.advance(60)
    with pytest.raises(Problem) as second:
        await scene.create()
    assert (second.value.code, second.value.message) == (
        "VALIDATION_FAILED",
        f"A platform token already exists, created at {NOON}. To replace it, run `wmsd kernel-token rotate`.",
    )
    assert len(await scene.listed()) == 1


async def test_a_token_that_was_replaced_holds_for_a_day_and_not_a_moment_longer(scene: Scene) -> None:
    tokens = [await scene.create(), await scene.rotate()]
    known = await scene.database.read(accepted)
    assert await scene.holding(tokens) == [1, 2]
    scene.clock.wall += GRACE - AN_INSTANT
    assert await scene.holding(tokens) == [1, 2]
    scene.clock.wall += AN_INSTANT
    assert await scene.holding(tokens) == [2]
    held = [owner_of(made.token, known, scene.clock.now()) is not None for made in tokens]
    assert held == [False, True], "though it is known from before"


async def test_replacing_again_makes_the_day_of_the_first_no_longer(scene: Scene) -> None:
    tokens = [await scene.create(), await scene.rotate()]
    scene.clock.advance(60)
    tokens.append(await scene.rotate())
    assert [row["expires_at"] for row in await scene.listed()] == [
        NEXT_NOON,
        NEXT_NOON.replace("12:00", "12:01"),
        None,
    ]
    scene.clock.wall += GRACE - timedelta(seconds=60)
    assert await scene.holding(tokens) == [2, 3]


async def test_one_replaced_at_once_ends_all_that_were_before(scene: Scene) -> None:
    tokens = [await scene.create(), await scene.rotate(), await scene.rotate(at_once=True)]
    assert await scene.holding(tokens) == [3]


async def test_one_revoked_ends_and_leaves_the_others(scene: Scene) -> None:
    tokens = [await scene.create(), await scene.rotate()]
    scene.clock.advance(60)
    assert await scene.revoke(1)
    assert await scene.holding(tokens) == [2]
    scene.clock.advance(60)
    assert not await scene.revoke(1), "it was before"
    assert [row["revoked_at"] for row in await scene.listed()] == [LATER, None]
    assert await scene.revoke(2)
    tokens.append(await scene.create())
    assert await scene.holding(tokens) == [3]


async def test_one_that_is_not_there_cannot_be_revoked(scene: Scene) -> None:
    with pytest.raises(Problem) as missing:
        await scene.revoke(9)
    assert (missing.value.status, missing.value.message) == (404, "There is no such platform token as 9.")


async def test_the_list_tells_what_there_was_and_what_holds(scene: Scene) -> None:
    await scene.create()
    await scene.rotate()
    await scene.revoke(2)
    row = {"created_at": NOON, "expires_at": None, "revoked_at": None, "accepted": True}
    expiring, revoked = {**row, "id": 1, "expires_at": NEXT_NOON}, {**row, "id": 2, "revoked_at": NOON}
    assert await scene.listed() == [expiring, {**revoked, "accepted": False}]
    scene.clock.wall += GRACE
    assert [each["accepted"] for each in await scene.listed()] == [False, False]
    assert all(type(each["accepted"]) is bool for each in await scene.listed())


async def test_what_is_done_is_audited(scene: Scene) -> None:
    await scene.create()
    await scene.rotate()
    await scene.rotate(at_once=True)
    await scene.revoke(3)
    await scene.revoke(3)
    assert await scene.audited() == [
        ("kernel-token.create", "1"),
        ("kernel-token.rotate", "2"),
        ("kernel-token.rotate at once", "3"),
        ("kernel-token.revoke", "3"),
    ]
