"""The metrics of the kernel interface, and the requests of each company."""

import asyncio
from pathlib import Path
from typing import Any

from tests.interfaces.kernel.damage import damage
from tests.support.shop import Shop
from tests.support.world import KERNEL, UNLIMITED, World, open_world
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.platform.kernel.company_figures import RESOURCES, STATUSES

A_DAY = 24 * 3600


async def stats(world: World) -> Any:
    return (await world.call("GET", f"{KERNEL}stats")).body


async def test_an_empty_installation(kernel: World) -> None:
    found = await stats(kernel)
    (company,) = found["companies"]
    assert (found["at"], company["id"], company["code"]) == ("2026-11-20T12:00:00.000Z", 1, "ACME")
    assert company["requests"] == {"count": 0, "since": None}
    assert company["events"] == {"month": "2026-11", "by_name": {}, "in_month": 0, "ever": 0}
    assert company["deliveries"] == {"open": 0, "delivered": 0, "exhausted": 0, "skipped": 0}
    assert set(company["resources"]) == set(RESOURCES)
    for name, counted in company["resources"].items():
        by_status = dict.fromkeys(STATUSES[name], 0) if name in STATUSES else None
        assert counted == {"count": 0, "by_status": by_status}


async def test_resources_are_counted_by_status(shop: Shop) -> None:
    world = shop.world
    await world.open_kernel()
    for status in ("CREAT", "CREAT", "IN_LUCRU", "ANULAT"):
        await shop.order()
        number = (await world.rows("SELECT max(id) FROM sales_orders"))[0][0]
        if status != "CREAT":
            await world.send("PATCH", f"/api/sales-orders/{number}", {"status": status})
    (company,) = (await stats(world))["companies"]
    assert company["resources"]["sales_orders"] == {
        "count": 4,
        "by_status": {"CREAT": 2, "IN_LUCRU": 1, "INCARCAT": 0, "LIVRAT": 0, "ANULAT": 1},
    }
    for name, counted in company["resources"].items():
        assert await world.rows(f"SELECT count(*) FROM {name}") == [(counted["count"],)], name
        if counted["by_status"] is not None:
            assert sum(counted["by_status"].values()) == counted["count"]
    told = dict(await world.rows("SELECT event, count(*) FROM events GROUP BY event"))
    assert company["events"]["by_name"] == told
    assert company["events"]["in_month"] == company["events"]["ever"] == sum(told.values())


async def test_events_of_the_month_and_of_all_time(kernel: World) -> None:
    article = {"code": "A", "name": "A"}
    await kernel.call("POST", "/api/articles", article, status=201, events=["article.created"])
    kernel.clock.advance(31 * A_DAY)
    await kernel.call("PATCH", "/api/articles/1", {"name": "B"}, events=["article.updated"])
    events = (await stats(kernel))["total"]["events"]
    assert events == {"month": "2026-12", "by_name": {"article.updated": 1}, "in_month": 1, "ever": 2}


QUEUED = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, entity, entity_id, status, attempts_left, due_at, created_at)
    SELECT 1, value, value, 'article', 1, iif(value = 1, 'pending', 'held'), 5, iif(value = 1, 0, NULL), '2026'
    FROM generate_series(1, 6)
"""
TRANSITIONS = (
    "UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL WHERE id = 1",
    "UPDATE webhook_deliveries SET status = 'exhausted' WHERE id IN (2, 3)",
    "UPDATE webhook_deliveries SET status = 'skipped' WHERE id = 4",
    "UPDATE webhook_deliveries SET status = 'pending', due_at = 0 WHERE id IN (3, 5)",
    "UPDATE webhook_deliveries SET status = 'pending', due_at = 1 WHERE id = 5",
    "DELETE FROM webhook_deliveries WHERE id = 4",
)


async def test_deliveries_are_counted_through_all_their_moves(kernel: World) -> None:
    database = await kernel.database()
    queued = QUEUED.replace("generate_series(1, 6)", "json_each('[1,2,3,4,5,6]')")
    for move in (queued, *TRANSITIONS):
        await database.write(lambda tx, move=move: tx.execute(move))  # type: ignore[misc]  # binds the loop variable
        kept = dict(await kernel.rows("SELECT status, rows FROM webhook_subscription_counts WHERE rows > 0"))
        assert kept == dict(await kernel.rows("SELECT status, count(*) FROM webhook_deliveries GROUP BY status"))
    (company,) = (await stats(kernel))["companies"]
    assert company["deliveries"] == {"open": 3, "delivered": 1, "exhausted": 1, "skipped": 0}


async def test_the_total_is_the_sum(shop: Shop) -> None:
    world = shop.world
    await world.open_kernel()
    other = await world.new_company("OTHER")
    bad = await world.new_company("BAD")
    await shop.order()
    await world.send("POST", "/api/articles", {"code": "A", "name": "A"}, company=other)
    await world.send("GET", "/api/articles", company=bad)
    await damage(world, bad)
    found = await stats(world)
    total, companies = found["total"], found["companies"]
    assert (total["companies"], total["companies_unavailable"]) == (3, 1)
    assert total["database_bytes"] == sum(company["database_bytes"] for company in companies)
    assert total["requests"]["count"] == sum(company["requests"]["count"] for company in companies)
    assert companies[2]["requests"]["count"] == 1
    there = [company for company in companies if company["available"]]
    for name in RESOURCES:
        assert total["resources"][name]["count"] == sum(each["resources"][name]["count"] for each in there)
    assert total["resources"]["sales_orders"]["by_status"]["CREAT"] == 1
    assert total["events"]["ever"] == sum(each["events"]["ever"] for each in there)


async def test_bytes_are_those_on_disk(kernel: World) -> None:
    await kernel.import_csv("clients", "code,name\n" + "".join(f"C{n},N\n" for n in range(2000)))
    found = await stats(kernel)
    file = kernel.installation.files.path(1)
    assert found["companies"][0]["database_bytes"] == bytes_on_disk(file) > file.stat().st_size
    assert found["platform_database_bytes"] == bytes_on_disk(kernel.installation.folder.platform_file)


async def counted(world: World) -> list[tuple[int, str | None]]:
    found = (await stats(world))["companies"]
    return [(company["requests"]["count"], company["requests"]["since"]) for company in found]


async def test_requests_within_the_limits_are_counted(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 4}}) as world:
        await world.open_kernel()
        other = await world.new_company("OTHER")
        await world.call("GET", "/api/articles", token="wrong", status=401)
        await world.call("GET", "/api/companies")
        assert await counted(world) == [(0, None), (0, None)]
        world.clock.advance(1)
        await world.call("GET", "/api/articles/9", status=404)
        requests = [{"method": "GET", "path": "/api/v2/articles"}] * 3
        await world.call("POST", "/api/v2/batch", {"requests": requests})
        await world.call("GET", "/api/articles", status=429)
        assert await counted(world) == [(4, "2026-11-20T12:00:01.000Z"), (0, None)]
        world.clock.advance(1)
        await world.call("GET", "/api/articles", company=other)
        assert await counted(world) == [(4, "2026-11-20T12:00:01.000Z"), (1, "2026-11-20T12:00:02.000Z")]
        assert (await stats(world))["total"]["requests"] == {"count": 5, "since": "2026-11-20T12:00:01.000Z"}


async def test_counted_requests_outlive_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await world.open_kernel()
        for _ in range(3):
            await world.call("GET", "/api/articles")
        await world.installation.requests.write()
        await world.call("GET", "/api/articles")
        token, kernel_token = world.token, world.kernel_token
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        world.token, world.kernel_token, world.company = token, kernel_token, 1
        world.clock.advance(60)
        await world.call("GET", "/api/articles")
        assert await counted(world) == [(5, "2026-11-20T12:00:00.000Z")]


async def test_no_request_is_counted_twice_while_they_are_written_down(kernel: World) -> None:
    seen: list[int] = []

    async def look() -> None:
        for _ in range(20):
            seen.append((await kernel.installation.requests.read())[1].count)
            await asyncio.sleep(0)

    async def count() -> None:
        for _ in range(20):
            kernel.installation.requests.note(1)
            writing = asyncio.ensure_future(kernel.installation.requests.write())
            await asyncio.sleep(0)
            writing.cancel()
            await asyncio.sleep(0)

    kernel.installation.requests.note(1)
    await asyncio.gather(look(), count())
    assert seen == sorted(seen)
    await kernel.installation.requests.write()
    assert (await kernel.installation.requests.read())[1].count == 21
