"""Tests of a company's quota and of a full disk: additions are refused first, deletions still work, and nobody is
locked in.
"""

import errno
import logging
import resource
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.log_lines import keeping
from tests.support.shop import Shop, open_shop
from tests.support.small_disk import fill
from tests.support.world import UNLIMITED, World, open_world
from wmsd import docs
from wmsd.base.machine.disk import LEAST_REFUSED
from wmsd.base.repeated_failures import FLAPPING_SECONDS
from wmsd.data_folder.folder import RESERVE_BYTES, DataFolder
from wmsd.db.sql.statements import update_row
from wmsd.dispatch.limits import growth_limits

MEGABYTE = 1024 * 1024
ARTICLE = {"code": "NEW", "name": "New"}
GUIDE = (files(docs) / "disk-full.md").read_text(encoding="utf-8")


async def set_quota(world: World, megabytes: int) -> None:
    changes = {"quota_megabytes": megabytes or None}
    await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, changes))


async def bytes_used(world: World) -> int:
    return await (await world.database()).read(lambda tx: tx.bytes_used())


@pytest.fixture
async def crowded(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Return a shop with an order and a used-up quota. A megabyte is patched to be as small as its file."""
    await shop.order({"article_code": "A", "quantity": 1})
    monkeypatch.setattr(growth_limits, "MEGABYTE", await bytes_used(shop.world))
    await set_quota(shop.world, 1)
    return shop


async def test_beyond_its_quota_a_company_adds_nothing(crowded: Shop) -> None:
    world = crowded.world
    refused = await world.call("POST", "/api/articles", ARTICLE, status=507)
    assert refused.body["code"] == "STORAGE_FULL"
    assert "answered 507 `STORAGE_FULL`" in GUIDE
    assert "quota" in refused.body["message"]
    await world.call("PATCH", "/api/articles/1", {"name": "longer"}, status=507)
    await world.call("GET", "/api/articles")


async def test_moves_and_deletions_go_on(crowded: Shop) -> None:
    world = crowded.world
    moved = ["sales_order.status_changed"]
    await world.call("PATCH", "/api/v2/sales-orders/1/status", {"status": "IN_LUCRU"}, events=moved)
    await world.call("PATCH", "/api/sales-orders/1", {"status": "CREAT"}, events=moved)
    await set_quota(world, 0)
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    made = await world.call("POST", "/api/webhooks", hook, status=201)
    await set_quota(world, 1)
    await world.call("DELETE", f"/api/webhooks/{made.id}", status=204)


async def test_moves_end_a_quarter_later(crowded: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_limits, "MEGABYTE", int(await bytes_used(crowded.world) / 1.3))
    await crowded.world.call("PATCH", "/api/v2/sales-orders/1/status", {"status": "IN_LUCRU"}, status=507)


async def test_what_was_answered_before_is_answered_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    world, key = shop.world, {"Idempotency-Key": "one"}
    made = await world.send("POST", "/api/articles", ARTICLE, headers=key)
    monkeypatch.setattr(growth_limits, "MEGABYTE", 1)
    await set_quota(world, 1)
    again = await world.send("POST", "/api/articles", ARTICLE, headers=key)
    assert (again.status, again.raw) == (201, made.raw)


async def test_a_mutation_of_graphql_has_the_same_quota(crowded: Shop) -> None:
    document = 'mutation { create_article(input: {code: "N", name: "N"}) { id } }'
    answer = await crowded.world.send("POST", "/api/graphql", {"query": document})
    assert answer.body["errors"][0]["extensions"]["code"] == "STORAGE_FULL"


async def test_the_installation_has_a_quota_for_those_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth_limits, "MEGABYTE", 1)
    async with open_world(tmp_path / "data", {**UNLIMITED, "storage": {"quota_megabytes": 1}}) as world:
        await world.call("POST", "/api/articles", ARTICLE, status=507)
        await set_quota(world, 10**9)
        await world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])


async def test_the_kernel_is_told_of_quotas(world: World) -> None:
    await world.open_kernel()
    await set_quota(world, 5)
    stats = await world.call("GET", "/api/kernel/v1/stats", company="")
    assert [each["quota_bytes"] for each in stats.body["companies"]] == [5_000_000]


# --- a disk that is really full --------------------------------------------------------------------------------


@pytest.fixture
async def on_small_disk(small_disk: Path) -> AsyncIterator[World]:
    async with open_world(small_disk / "data", UNLIMITED) as world:
        world.installation.folder.make_reserve()
        yield world


async def test_a_disk_that_is_nearly_full_takes_nothing_new(on_small_disk: World, small_disk: Path) -> None:
    world = on_small_disk
    await open_shop(world)
    other = fill(small_disk, LEAST_REFUSED - MEGABYTE)
    refused = await world.call("POST", "/api/articles", ARTICLE, status=503)
    assert refused.body["code"] == "SERVICE_UNAVAILABLE"
    assert "answered 503 `SERVICE_UNAVAILABLE`" in GUIDE
    assert refused.headers["Retry-After"] == "30"
    await world.call("GET", "/api/articles")
    other.unlink()
    await world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])


async def test_on_a_full_disk_tokens_are_revoked_and_records_go(on_small_disk: World, small_disk: Path) -> None:
    world = on_small_disk
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    made = await world.call("POST", "/api/webhooks", hook, status=201)
    token = await world.new_token("admin@example.com")
    assert world.installation.folder.reserve.stat().st_size == RESERVE_BYTES
    fill(small_disk, 0)
    with pytest.raises(OSError) as raised:
        (small_disk / "crumb").write_bytes(b"x" * MEGABYTE)
    assert raised.value.errno == errno.ENOSPC
    await world.call("POST", "/api/auth/revoke", token=token, company="")
    await world.call("GET", "/api/user", token=token, company="", status=401)
    assert not world.installation.folder.reserve.exists()
    await world.call("DELETE", f"/api/webhooks/{made.id}", status=204)
    await world.call("POST", "/api/articles", ARTICLE, status=503)


async def test_deletions_alone_release_the_reserve_too(on_small_disk: World, small_disk: Path) -> None:
    world = on_small_disk
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    made = [(await world.call("POST", "/api/webhooks", hook, status=201)).id for _ in range(30)]
    fill(small_disk, 0)
    for each in made:
        await world.call("DELETE", f"/api/webhooks/{each}", status=204)


async def test_the_reserve_is_made_again_when_there_is_room(on_small_disk: World, small_disk: Path) -> None:
    folder = on_small_disk.installation.folder
    other = fill(small_disk, 0)
    assert folder.release_reserve()
    assert not folder.release_reserve(), "there is room now"
    await on_small_disk.jobs.make_reserve()
    assert not folder.reserve.exists()
    other.unlink()
    await on_small_disk.jobs.make_reserve()
    assert folder.reserve.stat().st_size == RESERVE_BYTES


def test_what_moves_is_told_by_what_is_sent() -> None:
    from wmsd.interfaces.rest_v1.routes import ROUTES

    updates = {route.operation.name: route.operation for route in ROUTES if route.method == "PATCH"}
    order = updates["update_sales_order"]
    assert order.body is not None
    said: dict[str, Any] = {"status": "IN_LUCRU"}
    assert growth_limits.growth_of(order, {"body": order.body.model_validate(said)}) == "moves"
    assert growth_limits.growth_of(order, {"body": order.body.model_validate({**said, "notes": "n"})}) == "adds"
    assert growth_limits.growth_of(order, {"body": order.body.model_validate({})}) == "adds"


async def test_a_quota_that_is_reached_is_told_once_and_when_there_is_room_again(crowded: Shop) -> None:
    world = crowded.world
    with keeping() as log:
        for _ in range(10):
            assert (await world.send("POST", "/api/articles", ARTICLE)).status == 507
        await set_quota(world, 0)
        world.clock.advance(FLAPPING_SECONDS)
        assert (await world.send("POST", "/api/articles", ARTICLE)).status == 201
    told = [record.getMessage() for record in log.records if record.name == "wmsd.storage"]
    assert told[0].startswith("company ACME: The quota of 1 MB is used up, ")
    assert told[1:] == ["resolved after 10 failures: company ACME"]


async def test_a_disk_that_is_gone_refuses_and_is_told_once(shop: Shop) -> None:
    world, folder = shop.world, shop.world.installation.folder.path
    with keeping() as log:
        folder.rename(folder.with_name("elsewhere"))
        statuses = {(await world.send("POST", "/api/articles", ARTICLE)).status for _ in range(10)}
        folder.with_name("elsewhere").rename(folder)
    assert statuses == {503}
    assert len([record for record in log.records if record.levelno >= logging.WARNING]) == 1


def test_a_reserve_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (RESERVE_BYTES // 2, hard))
    try:
        with keeping() as log:
            for _ in range(10):
                folder.make_reserve()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not folder.reserve.exists()
    (told,) = log.records
    assert told.getMessage() == "the emergency space reserve cannot be created: [Errno 27] File too large"
