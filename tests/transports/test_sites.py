"""Who gets in: the bearer of a site, to its own orders and transports, and to nothing else."""

import asyncio
import json
import re
import shlex
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.support.planner import ETSM, EUR_4, MOVED, PACKED, STOCK, Planner, new_site
from tests.support.shop import open_shop
from tests.support.world import World, open_world
from wmsd import docs
from wmsd.app.doctor import examine
from wmsd.db.transaction import Transaction
from wmsd.interfaces.etsm.routes import ROUTES
from wmsd.sites import actions as sites
from wmsd.sites.rules import PREFIX

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
        _, token = await world.site.platform.write(lambda tx: sites.rotate_site(tx, "ACME", "MAIN", at_once))
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
    assert await world.site.platform.write(lambda tx: sites.revoke_site(tx, "ACME", "MAIN"))
    assert await good(fourth, fifth) == [False, False]
    sixth = await rotate()
    assert await good(fifth, sixth) == [False, True]


async def test_only_the_hash_of_a_token_is_kept(planner: Planner) -> None:
    def rows(tx: Transaction) -> str:
        return repr([tx.rows("SELECT * FROM sites"), tx.rows("SELECT * FROM audit")])

    kept = await planner.world.site.platform.read(rows)
    assert planner.token not in kept
    assert planner.token.removeprefix(PREFIX) not in kept
    assert "('wmsd', 'site.create', 'ACME MAIN')" in re.sub(r"\(\d+, '[^']+', ", "(", kept)


@pytest.fixture
async def east(planner: Planner) -> Planner:
    """The planner of the other warehouse."""
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


async def test_a_status_call_that_comes_many_times_at_once_moves_once(planner: Planner) -> None:
    for _ in range(3):
        await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", "SO-000002", "SO-000003", packaging=[EUR_4])
    before = await planner.world.last_event()
    calls = [planner.send(status) for status in ("INCARCAT", "LIVRAT") * 10]
    answers = await asyncio.gather(*calls)
    assert {answer.status for answer in answers} == {200}
    names = Counter(name for name, _ in await planner.world.events_after(before))
    assert names == {MOVED: 6, PACKED: 1, STOCK: 1}
    assert await planner.packaging() == {("EUR", 1): 4}
    assert await planner.shop.ledger() == [("loading", -3)] * 3
    await planner.is_right()


async def test_a_status_call_against_moves_by_hand(planner: Planner) -> None:
    """Whoever comes first: all is moved and the hand is too late, or nothing is and the order is cancelled."""
    seen = set()
    for number in range(6):
        first, second = 2 * number + 1, 2 * number + 2
        for _ in range(2):
            await planner.shop.order({"article_id": 1, "quantity": 1}, status="IN_LUCRU")
        ecc = f"T{number}"
        await planner.plan(f"SO-{first:06d}", f"SO-{second:06d}", ecc=ecc, packaging=[EUR_4])
        cancel = planner.world.send("PATCH", f"/api/v2/sales-orders/{second}/status", {"status": "ANULAT"})
        pair = [planner.send("INCARCAT", ecc=ecc), cancel]
        answers = await asyncio.gather(*(pair if number % 2 else reversed(pair)))
        statuses = tuple(answer.status for answer in (answers if number % 2 else reversed(answers)))
        assert statuses in ((200, 409), (409, 200))
        loaded = statuses[0] == 200
        assert await planner.orders(ecc) == (["INCARCAT"] * 2 if loaded else ["IN_LUCRU", "ANULAT"])
        seen.add(loaded)
    transports = await planner.world.rows("SELECT count(*) FROM transports WHERE status = 'INCARCAT'")
    assert await planner.packaging() in ({("EUR", 1): 4 * transports[0][0]}, {})
    await planner.is_right()


async def test_of_two_transports_one_gets_an_order(planner: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    bodies = [{"transport_ecc": f"T{number}", "order_codes": ["SO-000001"]} for number in range(10)]
    path = f"{ETSM}/transports"
    answers = await asyncio.gather(
        *(planner.world.send("POST", path, body, token=planner.token, company="") for body in bodies)
    )
    assert Counter(answer.status for answer in answers) == {201: 1, 422: 9}
    await planner.is_right()


DAMAGE = {
    "a transport's packaging is in the packaging ledger": (
        "UPDATE transport_packaging SET quantity = 5000000",
        ("T1 of MAIN, EUR", "5", "4"),
    ),
    "a transport's packaging is posted when it is loaded": (
        "UPDATE transport_packaging SET partner_id = NULL",
        ("T1 of MAIN, packaging 1", "posted", "not posted"),
    ),
    "an order is on one transport at a time": (
        "INSERT INTO transport_orders VALUES (2, 1, 0)",
        ("SO-000001", "at most 1", "2"),
    ),
    "a delivered transport has delivered its orders": (
        "UPDATE transports SET status = 'LIVRAT', delivered_at = loaded_at WHERE id = 1",
        ("T1 of MAIN, SO-000001", "LIVRAT", "INCARCAT"),
    ),
}


@pytest.mark.parametrize("promise", DAMAGE)
async def test_the_doctor_finds_what_is_not_so(planner: Planner, promise: str) -> None:
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", packaging=[EUR_4])
    await planner.send("INCARCAT")
    await planner.plan(ecc="T2")
    await planner.is_right()
    sql, difference = DAMAGE[promise]
    database = await planner.world.database()
    await database.write(lambda tx: tx.execute(sql))
    found = (await database.read_long(examine)).differences
    assert (promise, *difference) in [(each.promise, each.record, each.expected, each.found) for each in found]


async def test_the_requests_of_the_guide_do_what_it_says(planner: Planner) -> None:
    """Each as it is printed there, one after another."""
    for _ in range(2):
        await planner.shop.order(status="IN_LUCRU")
    guide = (Path(docs.__file__).parent / "transports.md").read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"^```\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    requests = re.findall(r"^curl [^\n']*(?:'[^']*')?", lines, re.MULTILINE)
    planner.world.clock.advance(timedelta(hours=6).total_seconds())
    answers = []
    for request in requests:
        words = shlex.split(request)
        address = next(word for word in words if word.startswith("http://127.0.0.1:8480/api/"))
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
        assert words[words.index("-H") + 1] == "Authorization: Bearer $SITE_TOKEN"
        path = address.removeprefix("http://127.0.0.1:8480")
        answers.append(await planner.world.send(method, path, body, token=planner.token, company=""))
    assert [answer.status for answer in answers] == [200, 201, 200, 200]
    assert [answer.body["status"] for answer in answers[1:]] == ["CREAT", "INCARCAT", "LIVRAT"]
    assert await planner.packaging() == {("EUR", 1): 1}
    await planner.is_right()
