"""Tests of disk shares: the last fifth of the disk is reserved for companies below their share, so that no company
fills it.
"""

import math
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.small_disk import fill, small_disk_at
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.disk import MEBIBYTE, SHARED_PERCENT, Disk
from wmsd.contract.context import Company
from wmsd.db.sql.statements import update_row
from wmsd.dispatch.limits.disk_shares import Held
from wmsd.dispatch.limits.growth_limits import MEGABYTE
from wmsd.server.today.quota_watch import WARN_FROM

ARTICLES = "code,name\n" + "".join(f"L-{number},{'long' * 50}\n" for number in range(20_000))
NEARLY_FULL = 36 * MEBIBYTE
"""Free space of less than a fifth of the disk, but enough for additions."""
ACME, LITTLE = "1", "2"
OTHERS = 9
COMPANY = Company(1, "ACME", "Acme")
BYTES = st.integers(0, 10**12)


@given(st.lists(BYTES, min_size=1, max_size=20), BYTES)
def test_nobody_below_the_equal_share_is_bounded_and_the_shares_fill_the_room(files: list[int], free: int) -> None:
    share = Held(sum(files), len(files)).share_of(COMPANY, Disk(free, 10**13))
    assert share is not None
    assert 0 <= sum(files) + free - share.bytes * len(files) < len(files)


@given(BYTES, BYTES)
def test_a_single_company_has_all_the_room(file: int, free: int) -> None:
    share = Held(file, 1).share_of(COMPANY, Disk(free, 10**13))
    assert share is not None and share.bytes == file + free


@given(st.integers(0, 100))
def test_the_disk_is_shared_when_less_than_a_fifth_is_free(percent: int) -> None:
    disk = Disk(percent * MEBIBYTE, 100 * MEBIBYTE)
    assert disk.is_shared == (percent < SHARED_PERCENT)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "disk", megabytes=200) as place:
        yield place


@pytest.fixture
async def world(disk: Path) -> AsyncIterator[World]:
    """Open a world in which ACME uses 10 MiB, and the other companies next to nothing."""
    async with open_world(disk / "data", UNLIMITED) as world:
        for number in range(OTHERS):
            await world.new_company(f"LITTLE-{number}")
        await world.import_csv("articles", ARTICLES)
        await counted(world)
        yield world


async def counted(world: World) -> None:
    for _ in range(3):  # the metrics of a file are read in the turn after it was opened
        await world.jobs.keep_today()
    await world.jobs.watch_the_disk()


async def add(world: World, company: str, code: str, status: int) -> str:
    answer = await world.send("POST", "/api/articles", {"code": code, "name": code}, company=company)
    assert answer.status == status, answer.body
    return str(answer.body.get("message", ""))


async def near(world: World) -> dict[str, int]:
    """Return the percentage that each warned company uses of its share, by the company's code."""
    known = await world.installation.access.companies()
    return {known[each].code: filling.percent for each, filling in world.jobs.room_watch.near.items()}


async def set_quota(world: World, megabytes: int) -> None:
    changes = {"quota_megabytes": megabytes or None}
    await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, changes))


async def upgraded(world: World) -> None:
    """Bring the installation to the state of one from before shares existed."""
    await world.installation.platform.write(lambda tx: tx.execute("UPDATE companies SET held_before = NULL"))


async def test_who_holds_more_than_the_share_adds_nothing_and_others_go_on(world: World, disk: Path) -> None:
    other = fill(disk, NEARLY_FULL)
    await counted(world)
    assert "this company has used its share of " in await add(world, ACME, "NEW", 507)
    await add(world, LITTLE, "NEW", 201)
    other.unlink()
    await add(world, ACME, "NEW", 201)


async def test_a_quota_of_its_own_takes_the_place_of_the_share(world: World, disk: Path) -> None:
    fill(disk, NEARLY_FULL)
    await counted(world)
    await set_quota(world, 50)
    await add(world, ACME, "NEW", 201)


async def test_no_upgrade_refuses_a_company_alone(world: World, disk: Path) -> None:
    """An upgrade alone refuses no company. Each company may grow by a quarter of what it used at the upgrade."""
    fill(disk, NEARLY_FULL)
    await upgraded(world)
    await add(world, ACME, "BEFORE-IT-IS-NOTED", 201)
    await counted(world)
    await add(world, ACME, "AFTER", 201)
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE companies SET held_before = held_before / 2 WHERE code = 'ACME'")
    )
    fill(disk, NEARLY_FULL)
    await add(world, ACME, "BEYOND", 507)


async def test_it_is_told_at_80_percent_of_both_ways(world: World, disk: Path) -> None:
    fill(disk, 90 * MEBIBYTE)
    await counted(world)
    assert await near(world) == {}, "the disk is far from being shared"
    fill(disk, 60 * MEBIBYTE)
    await counted(world)
    assert list(await near(world)) == ["ACME"]
    assert (await add(world, ACME, "STILL", 201)) == ""
    await world.jobs.alerts.look()
    [alert] = [each for each in world.jobs.alerts.kept.open if each.kind == "company-fills"]
    assert alert.facts["company"] == "ACME"


async def test_of_a_quota_it_is_told_too(world: World) -> None:
    """A company is told when its quota fills. Near the threshold, the message does not come and go."""
    held = await (await world.database()).read(lambda tx: tx.bytes_used())
    told_from = held / MEGABYTE / WARN_FROM
    roomy, nearly, told_now = math.ceil(told_from * 1.15), math.ceil(told_from), math.floor(told_from)
    for quota, is_told in ((roomy, False), (nearly, False), (told_now, True), (nearly, True), (roomy, False)):
        await set_quota(world, quota)
        await counted(world)
        assert (await near(world) != {}) == is_told, quota
