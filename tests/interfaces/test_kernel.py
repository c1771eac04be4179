"""The kernel interface: who gets in, and what of the installation it shows and switches."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.support.raw_http import Caller
from tests.support.shop import Shop
from tests.support.world import KERNEL, UNLIMITED, Answer, World, open_world
from wmsd.accounts import kernel_tokens
from wmsd.app.company_figures import RESOURCES, STATUSES
from wmsd.base.access import MODULES
from wmsd.base.route import Route
from wmsd.db.company_files import MOST_OPEN
from wmsd.db.sqlite import bytes_on_disk, connect
from wmsd.interfaces.kernel.routes import ROUTES
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

A_DAY = 24 * 3600
SWITCH = f"{KERNEL}companies/1/modules/stock"


def path_of(route: Route) -> str:
    path = route.path
    for name, value in {"module": "stock", "code": "A", "id": "1", "delivery": "1"}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


# --- who gets in ----------------------------------------------------------------------------------------------


@pytest.fixture
async def kernel(world: World) -> World:
    await world.open_kernel()
    return world


async def rotated(world: World, at_once: bool = False) -> str:
    made = await world.site.platform.write(lambda tx: kernel_tokens.rotate(tx, at_once))
    return made.token


async def nothing(world: World) -> str:
    return ""


async def an_admins(world: World) -> str:
    return world.token


async def a_wrong_one(world: World) -> str:
    return f"{kernel_tokens.PREFIX}{'x' * 43}"


async def one_that_goes_on(world: World) -> str:
    return f"{world.kernel_token}x"


async def one_cut_short(world: World) -> str:
    return world.kernel_token[:-1]


async def one_in_capitals(world: World) -> str:
    return world.kernel_token.upper()


async def its_hash(world: World) -> str:
    digest: str = await world.site.platform.read(lambda tx: tx.value("SELECT hash FROM kernel_tokens"))
    return digest


async def one_revoked(world: World) -> str:
    await world.site.platform.write(lambda tx: kernel_tokens.revoke(tx, 1))
    return world.kernel_token


async def the_old_one_a_day_after(world: World) -> str:
    await rotated(world)
    world.clock.advance(A_DAY)
    return world.kernel_token


async def the_old_one_rotated_at_once(world: World) -> str:
    await rotated(world, at_once=True)
    return world.kernel_token


async def the_right_one(world: World) -> str:
    return world.kernel_token


async def the_old_one_within_a_day(world: World) -> str:
    await rotated(world)
    world.clock.advance(A_DAY - 1)
    return world.kernel_token


async def the_new_one(world: World) -> str:
    return await rotated(world)


async def the_new_one_after_a_revoked(world: World) -> str:
    await one_revoked(world)
    return (await world.site.platform.write(kernel_tokens.create)).token


Bearer = Callable[[World], Awaitable[str]]
REFUSED: tuple[Bearer, ...] = (
    *(nothing, an_admins, a_wrong_one, one_that_goes_on, one_cut_short, one_in_capitals, its_hash, one_revoked),
    *(the_old_one_a_day_after, the_old_one_rotated_at_once),
)
ADMITTED: tuple[Bearer, ...] = (
    *(the_right_one, the_old_one_within_a_day, the_new_one, the_new_one_after_a_revoked),
)


async def ask(world: World, route: Route, token: str) -> Answer:
    return await world.send(
        route.method, path_of(route), {"enabled": False} if route.operation.body else None, token=token
    )


@pytest.mark.parametrize("bearer", REFUSED, ids=lambda bearer: bearer.__name__)
async def test_all_others_are_401_everywhere_and_change_nothing(kernel: World, bearer: Bearer) -> None:
    token = await bearer(kernel)
    for route in ROUTES:
        answer = await ask(kernel, route, token)
        assert (answer.status, answer.body["code"]) == (401, "UNAUTHORIZED"), name_of(route)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.headers["X-Request-Id"]
    await kernel.call("GET", "/api/stock")


@pytest.mark.parametrize("bearer", ADMITTED, ids=lambda bearer: bearer.__name__)
async def test_who_holds_the_token_is_let_in_everywhere(kernel: World, bearer: Bearer) -> None:
    token = await bearer(kernel)
    for route in ROUTES:
        assert (await ask(kernel, route, token)).status == 200, name_of(route)


async def test_without_any_platform_token_nobody_is_let_in(world: World) -> None:
    for token in ("", world.token, kernel_tokens.PREFIX, "x"):
        for route in ROUTES:
            assert (await ask(world, route, token)).status == 401


@pytest.mark.parametrize("route", [r for r in (*V1, *V2) if r.operation.signed_in], ids=name_of)
async def test_it_opens_nothing_else(kernel: World, route: Route) -> None:
    answer = await ask(kernel, route, kernel.kernel_token)
    assert (answer.status, answer.body["code"]) == (401, "UNAUTHORIZED")


async def test_it_names_no_company_where_a_token_may(kernel: World) -> None:
    await kernel.call("GET", "/api/v2/meta", token=kernel.kernel_token, status=401)


@pytest.mark.parametrize("token", [b"\xff\xfe", b"wmsdk_\xe9", b"\xc3\xa9"])
async def test_bytes_that_are_no_text_are_401(kernel: World, token: bytes) -> None:
    caller: Caller = kernel.caller
    head = b"GET /api/kernel/v1/stats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + b"\r\n\r\n"
    async with caller.connections(1) as (connection,):
        await connection.send(head)
        assert await connection.begin_to_read() == 401


async def test_a_token_in_the_address_is_not_looked_at(kernel: World) -> None:
    await kernel.call("GET", f"{KERNEL}stats?token={kernel.kernel_token}", token="", status=401)


async def test_only_the_hash_is_kept(kernel: World) -> None:
    await rotated(kernel)
    rows = await kernel.site.platform.read(lambda tx: tx.rows("SELECT hash, expires_at FROM kernel_tokens"))
    assert [len(digest) for digest, _ in rows] == [64, 64]
    file = kernel.site.folder.platform_file
    for each in (file, file.with_name(f"{file.name}-wal")):
        assert kernel.kernel_token.encode() not in each.read_bytes()


async def test_what_is_refused_uses_up_the_address(tmp_path: Path) -> None:
    limits = {"limits": {"data_per_minute": 2, "refused_per_minute": 3}}
    async with open_world(tmp_path / "data", limits) as world:
        await world.open_kernel()
        for status in (401, 401, 401, 429, 429):
            answer = await world.call("GET", f"{KERNEL}stats", token="wrong", status=status)
        assert int(answer.headers["Retry-After"]) == 60
        for _ in range(5):  # more than a company may
            assert "X-RateLimit-Limit" not in (await world.call("GET", f"{KERNEL}stats")).headers
        assert (await world.call("GET", "/api/articles")).headers["X-RateLimit-Remaining"] == "1"


async def test_headers_about_companies_do_nothing(kernel: World) -> None:
    headers = {"X-Three-Pl-Id": "99", "Idempotency-Key": " ", "If-Match": '"x"'}
    for company in ("", "999", "x"):
        for route in ROUTES:
            body = {"enabled": True} if route.operation.body else None
            await kernel.call(route.method, path_of(route), body, company=company, headers=headers)


async def test_what_another_process_changes_is_noticed(kernel: World) -> None:
    await kernel.call("GET", f"{KERNEL}stats")
    await kernel.site.access.forget_if_changed()
    other = connect(kernel.site.folder.platform_file)
    other.execute("UPDATE kernel_tokens SET revoked_at = '2026'")
    other.close()
    await kernel.site.access.forget_if_changed()
    await kernel.call("GET", f"{KERNEL}stats", status=401)


# --- its description ------------------------------------------------------------------------------------------


async def test_the_description_is_valid_and_has_every_route(kernel: World) -> None:
    document = (await kernel.call("GET", f"{KERNEL}openapi.json")).body
    validate(document)
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert document["components"]["securitySchemes"].keys() == {"kernel"}
    for route in ROUTES:
        told = document["paths"][route.path][route.method.lower()]
        assert {"200", "401", "429", "500", "503"} <= set(told["responses"])
        assert [parameter["in"] for parameter in told["parameters"]] == ["path"] * len(route.operation.path_types)


async def test_nothing_public_tells_of_it(world: World) -> None:
    for path in ("/api", "/openapi.json", "/api/v2/openapi.json", "/docs/api"):
        answer = await world.send("GET", path, token="", company="")
        assert (answer.status, b"kernel" in answer.raw) == (200, False), path


# --- topology -------------------------------------------------------------------------------------------------


async def damage(world: World, company: int) -> None:
    """As a broken disk leaves it: known when it is next read."""
    database = await world.database(company)
    await database.close()
    world.site.files.path(company).write_bytes(b"not a database" * 1000)


async def test_the_topology(kernel: World) -> None:
    await kernel.new_operator("TRY", sandbox=True)
    second = await kernel.new_company("SAND", ["api", "stock"], operator="TRY")
    await kernel.import_csv("warehouses", "code,name,active\nMAIN,Main,1\nOLD,Old,0\n")
    answer = (await kernel.call("GET", f"{KERNEL}topology")).body
    assert answer == {
        "operators": [{"id": 1, "code": "TRY", "name": "TRY", "sandbox": True}],
        "companies": [
            {
                "id": 1,
                "code": "ACME",
                "name": "Company ACME",
                "operator_id": None,
                "sandbox": False,
                "modules": dict.fromkeys(MODULES, True),
                "available": True,
                "warehouses": [
                    {"id": 1, "code": "MAIN", "name": "Main", "active": True},
                    {"id": 2, "code": "OLD", "name": "Old", "active": False},
                ],
            },
            {
                "id": second,
                "code": "SAND",
                "name": "Company SAND",
                "operator_id": 1,
                "sandbox": True,
                "modules": {module: module in ("api", "stock") for module in MODULES},
                "available": True,
                "warehouses": [],
            },
        ],
    }


@pytest.mark.parametrize("name", ["topology", "stats"])
async def test_a_file_that_fails_is_said_so_and_the_rest_goes_on(kernel: World, name: str) -> None:
    companies = [kernel.company, await kernel.new_company("BAD"), await kernel.new_company("GONE")]
    await damage(kernel, companies[1])
    await (await kernel.database(companies[2])).close()
    file = kernel.site.files.path(companies[2])
    file.rename(file.with_name("elsewhere"))
    for _ in range(2):
        shown = (await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]
        assert [(each["code"], each["available"]) for each in shown] == [
            ("ACME", True),
            ("BAD", False),
            ("GONE", False),
        ]
        assert shown[1]["warehouses" if name == "topology" else "resources"] is None
    file.with_name("elsewhere").rename(file)
    shown = (await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]
    assert [each["available"] for each in shown] == [True, False, True]


async def test_looking_at_many_companies_opens_no_file_for_good(kernel: World) -> None:
    companies = [await kernel.new_company(f"C{number}") for number in range(MOST_OPEN + 10)]
    in_use = companies[-3:]
    for company in in_use:
        await kernel.call("GET", "/api/articles", company=company)
    for name in ("topology", "stats"):
        assert len((await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]) == len(companies) + 1
    opened = [company for company in companies if (await kernel.database(company)).is_open]
    assert opened == in_use


# --- figures --------------------------------------------------------------------------------------------------


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
MOVES = (
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
    for move in (queued, *MOVES):
        await database.write(lambda tx, move=move: tx.execute(move))  # type: ignore[misc]  # the loop's own
        kept = dict(await kernel.rows("SELECT status, rows FROM webhook_delivery_counts WHERE rows > 0"))
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
    file = kernel.site.files.path(1)
    assert found["companies"][0]["database_bytes"] == bytes_on_disk(file) > file.stat().st_size
    assert found["platform_database_bytes"] == bytes_on_disk(kernel.site.folder.platform_file)


# --- requests -------------------------------------------------------------------------------------------------


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
        await world.jobs.write_request_counts()
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
            seen.append((await kernel.site.requests.read())[1].count)
            await asyncio.sleep(0)

    async def count() -> None:
        for _ in range(20):
            kernel.site.requests.note(1)
            writing = asyncio.ensure_future(kernel.site.requests.write())
            await asyncio.sleep(0)
            writing.cancel()
            await asyncio.sleep(0)

    kernel.site.requests.note(1)
    await asyncio.gather(look(), count())
    assert seen == sorted(seen)
    await kernel.site.requests.write()
    assert (await kernel.site.requests.read())[1].count == 21


# --- modules --------------------------------------------------------------------------------------------------


async def audited(world: World) -> list[tuple[str, str, str]]:
    sql = "SELECT actor, action, subject FROM audit WHERE action LIKE 'module.%' ORDER BY id"
    return await world.site.platform.read(lambda tx: tx.rows(sql))


async def test_a_module_is_switched_at_once(kernel: World) -> None:
    assert (await kernel.call("GET", SWITCH)).body == {"enabled": True}
    await kernel.call("GET", "/api/stock")
    for enabled, status in ((False, 403), (False, 403), (True, 200), (True, 200)):
        assert (await kernel.call("PUT", SWITCH, {"enabled": enabled})).body == {"enabled": enabled}
        await kernel.call("GET", "/api/stock", status=status)
        assert (await kernel.call("GET", SWITCH)).body == {"enabled": enabled}
    assert await audited(kernel) == [
        ("kernel", "module.disable stock", "ACME"),
        ("kernel", "module.enable stock", "ACME"),
    ]


@pytest.mark.parametrize("module", MODULES)
async def test_every_module_of_one_company_alone(kernel: World, module: str) -> None:
    other = await kernel.new_company("OTHER")
    await kernel.call("PUT", f"{KERNEL}companies/{other}/modules/{module}", {"enabled": False})
    first, second = (await kernel.call("GET", f"{KERNEL}topology")).body["companies"]
    assert all(first["modules"].values())
    assert second["modules"] == {each: each != module for each in MODULES}
    assert (await kernel.send("GET", "/api/articles", company=other)).status == (
        403 if module in ("api", "articles") else 200
    )


async def test_a_company_that_cannot_be_read_can_be_switched(kernel: World) -> None:
    await damage(kernel, 1)
    assert (await kernel.send("PUT", SWITCH, {"enabled": False})).body == {"enabled": False}
    assert (await kernel.send("GET", SWITCH)).body == {"enabled": False}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("companies/9/modules/stock", "There is no such company."),
        ("companies/0/modules/stock", "There is no such company."),
        ("companies/x/modules/stock", "There is no such company."),
        ("companies/1/modules/magic", f"There is no such module; the modules are {', '.join(MODULES)}."),
        ("companies/1/modules/Stock", f"There is no such module; the modules are {', '.join(MODULES)}."),
    ],
)
async def test_what_is_not_there_is_404(kernel: World, path: str, says: str) -> None:
    for method, body in (("GET", None), ("PUT", {"enabled": False})):
        answer = await kernel.call(method, f"{KERNEL}{path}", body, status=404)
        assert (answer.body["code"], answer.body["message"]) == ("NOT_FOUND", says)
    assert await audited(kernel) == []


async def test_a_body_without_the_switch_is_422(kernel: World) -> None:
    answer = await kernel.call("PUT", SWITCH, {}, status=422)
    assert answer.errors == {"enabled": ["is required"]}
