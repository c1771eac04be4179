"""Access to transports: the bearer of a site reaches its own orders and transports, and nothing else."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.support.planner import EUR_4, MOVED, PACKED, STOCK, Planner, new_site
from tests.support.shop import open_shop
from tests.support.world import ETSM, World, open_world
from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.etsm.routes import ROUTES
from wmsd.maintenance.company_moves import deletion_store
from wmsd.tenants.keys.bearers import Replacement
from wmsd.tenants.sites import actions as sites
from wmsd.tenants.sites.actions import PREFIX

PATHS = [(route.method, route.path.replace("{transport_ecc}", "T1")) for route in ROUTES]
BODIES = {"POST": {"transport_ecc": "T1", "order_codes": [], "status": "INCARCAT"}}


async def send(world: World, method: str, path: str, token: str, **options: Any) -> Any:
    return await world.send(method, path, BODIES.get(method), token=token, company="", **options)


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_only_the_bearer_of_a_site_gets_in(planner: Planner, method: str, path: str) -> None:
    world = planner.world
    for token in (
        "",
        world.token,
        "wmsds_",
        PREFIX + "x" * 43,
        planner.token[:-1],
        planner.token + "x",
        "x" * 7000,
    ):
        for company in ("", world.company):
            answer = await world.send(method, path, BODIES.get(method), token=token, company=company)
            assert (answer.status, answer.body["code"]) == (401, "UNAUTHORIZED")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert (await send(world, method, path, "", headers={"Authorization": "Bearer \xe9"})).status == 401
    assert (await send(world, method, path, planner.token)).status != 401


async def test_a_bearer_opens_nothing_else(planner: Planner) -> None:
    for method, path in (
        ("GET", "/api/sales-orders"),
        ("GET", "/api/user"),
        ("GET", "/api/companies"),
        ("PATCH", "/api/v2/sales-orders/1/status"),
        ("POST", "/api/v2/batch"),
    ):
        await planner.world.call(method, path, {} if method != "GET" else None, token=planner.token, status=401)


async def test_the_headers_do_not_say_which_company_it_is(planner: Planner) -> None:
    await planner.world.new_company("OTHER")
    made = await planner.plan()
    for company, operator in (("2", "1"), ("99", "x"), ("x", ""), ("", "7")):
        headers = {"X-Company-Id": company, "X-Three-Pl-Id": operator}
        answer = await planner.call("GET", "/transports/T1", headers=headers)
        assert answer.raw == made.raw


@pytest.mark.parametrize("module", ["api", "outbound"])
async def test_it_needs_two_modules(planner: Planner, module: str) -> None:
    await planner.world.set_module("ACME", module, False)
    for method, path in PATHS:
        answer = await send(planner.world, method, path, planner.token)
        assert (answer.status, answer.body["message"]) == (403, f"The module {module} is off for this company.")


async def test_nobody_else_is_told_of_it(planner: Planner) -> None:
    for path in ("/api", "/openapi.json", "/api/v2/openapi.json", "/docs/api"):
        shown = await planner.world.send("GET", path, token="", company="")
        assert b"etsm" not in shown.raw


async def test_the_description_for_sites(planner: Planner) -> None:
    document = (await planner.call("GET", "/openapi.json")).body
    validate(document)
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert list(document["components"]["securitySchemes"]) == ["site"]
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["security"] == [{"site": []}]
            assert {"401", "403", "422", "429", "500", "503"} <= set(operation["responses"])
            assert not {"X-Company-Id", "X-Three-Pl-Id"} & {each["name"] for each in operation["parameters"]}


async def test_the_company_and_the_address_are_limited(tmp_path: Path) -> None:
    limits = {"limits": {"data_per_minute": 3, "refused_per_minute": 2}}
    async with open_world(tmp_path / "data", limits) as world:
        token = await new_site(world, "MAIN", 1)
        for status in (401, 401, 429):
            assert (await send(world, "GET", f"{ETSM}/orders", "wrong")).status == status
        for left in ("2", "1", "0"):
            answer = await send(world, "GET", f"{ETSM}/orders", token)
            assert (answer.status, answer.headers["X-RateLimit-Remaining"]) == (200, left)
        assert (await send(world, "GET", f"{ETSM}/orders", token)).status == 429
        assert (await world.send("GET", "/api/articles")).status == 429, "one budget for all that it is asked"


async def test_rotating_and_revoking(planner: Planner) -> None:
    world = planner.world

    async def rotate(at_once: bool = False) -> str:
        _, token = await world.installation.platform.write(
            lambda tx: sites.rotate_site(tx, sites.site_of_warehouse(tx, "ACME", "MAIN"), at_once)
        )
        return token

    async def good(*tokens: str) -> list[bool]:
        return [(await send(world, "GET", f"{ETSM}/orders", token)).status == 200 for token in tokens]

    first = planner.token
    second = await rotate()
    assert await good(first, second) == [True, True]
    third = await rotate()
    assert await good(first, second, third) == [False, True, True]
    world.clock.advance(timedelta(hours=24).total_seconds() - 1)
    assert await good(second, third) == [True, True]
    world.clock.advance(1)
    assert await good(second, third) == [False, True]
    fourth = await rotate(at_once=True)
    assert await good(third, fourth) == [False, True]
    fifth = await rotate()
    assert await world.installation.platform.write(
        lambda tx: sites.revoke_site(tx, sites.site_of_warehouse(tx, "ACME", "MAIN"))
    )
    assert await good(fourth, fifth) == [False, False]
    sixth = await rotate()
    assert await good(fifth, sixth) == [False, True]


async def test_only_the_hash_of_a_token_is_kept(planner: Planner) -> None:
    def rows(tx: Transaction) -> str:
        return repr([tx.rows("SELECT * FROM sites"), tx.rows("SELECT id, at, actor, action, subject FROM audit")])

    kept = await planner.world.installation.platform.read(rows)
    assert planner.token not in kept
    assert planner.token.removeprefix(PREFIX) not in kept
    assert "('wmsd', 'site.create', 'ACME MAIN')" in re.sub(r"\(\d+, '[^']+', ", "(", kept)


@pytest.fixture
async def east(planner: Planner) -> Planner:
    """Return the planner of the other warehouse."""
    return Planner(planner.shop, await new_site(planner.world, "EAST", 2))


async def test_a_transport_of_another_site_is_none(planner: Planner, east: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", packaging=[EUR_4])
    refused = await east.call("GET", "/transports/T1", status=404)
    assert refused.body["message"] == "There is no such transport."
    await east.move("INCARCAT", status=404)
    assert (await east.call("GET", "/orders")).body["data"] == []
    unknown = await east.plan("SO-000009", status=422)
    known = await east.plan("SO-000001", status=422)
    assert known.raw == unknown.raw
    await east.plan()
    assert (await planner.shown())["orders"] != (await east.shown())["orders"] == []


async def test_sites_do_not_share_idempotency_keys(planner: Planner, east: Planner) -> None:
    key = {"Idempotency-Key": "the-same"}
    body = {"transport_ecc": "T1", "order_codes": []}
    first = await planner.call("POST", "/transports", body, status=201, headers=key)
    again = await planner.call("POST", "/transports", body, status=201, headers=key)
    assert (again.raw, again.headers["Idempotent-Replayed"]) == (first.raw, "true")
    other = await east.call("POST", "/transports", body, status=201, headers=key)
    assert "Idempotent-Replayed" not in other.headers
    await planner.call("POST", "/transports", {**body, "vehicle": "B"}, status=422, headers=key)


async def test_a_status_call_is_replayed_too(planner: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", packaging=[EUR_4])
    key = {"Idempotency-Key": "k"}
    path, body = "/transports/T1/status", {"status": "INCARCAT"}
    first = await planner.call("POST", path, body, events=[MOVED, PACKED, STOCK], headers=key)
    await planner.send("LIVRAT")
    again = await planner.call("POST", path, body, headers=key)
    assert (again.raw, again.headers["Idempotent-Replayed"]) == (first.raw, "true")


async def test_what_was_seen_may_be_a_condition(planner: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    made = await planner.plan("SO-000001")
    assert (await planner.call("GET", "/transports/T1")).headers["ETag"] == made.headers["ETag"]
    await planner.by_hand(1, "INCARCAT")
    seen = {"If-Match": made.headers["ETag"]}
    body = {"status": "INCARCAT"}
    refused = await planner.call("POST", "/transports/T1/status", body, status=412, headers=seen)
    now = {"If-Match": refused.headers["ETag"]}
    await planner.call("POST", "/transports/T1/status", body, headers=now)
    await planner.call("POST", "/transports/T2/status", body, status=404, headers=now)


async def test_another_company_gives_nothing_away(planner: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001")
    world = planner.world
    world.company = await world.new_company("OTHER")
    other = Planner(await open_shop(world), await new_site(world, "MAIN", 1, "OTHER"))
    await other.call("GET", "/transports/T1", status=404)
    refused = await other.plan("SO-000001", status=422)
    assert refused.errors == {"order_codes.0": ["is not an order of this site"]}
    assert (await other.call("GET", "/orders")).body["data"] == []
    assert (await planner.send("INCARCAT")).status == 200


async def test_the_log_names_the_company_of_the_site(planner: Planner, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "wmsd.request"):
        await planner.call("GET", "/orders", headers={"X-Company-Id": "99"})
    shown = [record.__dict__["company_id"] for record in caplog.records if "etsm/orders" in record.getMessage()]
    assert shown == ["1"]
    assert planner.token not in caplog.text


async def test_a_site_of_a_company_that_is_being_deleted_gets_no_new_bearer(planner: Planner) -> None:
    """Writes at the same time still get their replies."""
    platform = planner.world.installation.platform
    await platform.write(lambda tx: deletion_store.begin(tx, "ACME"))

    def renew(tx: Transaction) -> object:
        return sites.renew_site_bearer.action(tx, 1, Replacement())

    writes = [platform.write(action) for action in (lambda tx: 42, renew, lambda tx: 42)]
    first, refused, last = await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), 10)
    assert (first, last) == (42, 42)
    assert isinstance(refused, Problem)
    assert refused.status == 404
