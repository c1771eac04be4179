"""Tests of the demo: it is a company at work, created once.

Later starts issue new tokens that neither pile up nor cause warnings.
"""

from collections import Counter
from datetime import date, timedelta
from typing import Any, get_args

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.world import World
from wmsd.contract.access import EVERYTHING
from wmsd.db.engine.transaction import Transaction
from wmsd.installation import demo
from wmsd.tenants.accounts.actions import create_token
from wmsd.tenants.one_time_links.demo import DEMO_EMAIL as EMAIL
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind

OPEN = ("CREAT", "IN_LUCRU", "INCARCAT")
TOKENS = """
    SELECT tokens.name, revoked_at IS NULL FROM tokens JOIN users ON users.id = user_id WHERE email = ?
    ORDER BY tokens.id
"""


async def tokens(world: World) -> list[tuple[str, bool]]:
    """Return the name of each token of the demo's user, and True if the token works."""
    found = await world.installation.platform.read(lambda tx: list(tx.rows(TOKENS, (EMAIL,))))
    return [(name, bool(is_good)) for name, is_good in found]


async def documents(world: World, kind: str) -> list[dict[str, Any]]:
    path = "v2/counts" if kind == "counts" else kind
    return list((await world.call("GET", f"/api/{path}?per_page=100")).body["data"])


@pytest.fixture
async def demo_world(world: World) -> World:
    loaded = await demo.load(world.installation)
    world.company, world.token = loaded.company_id, loaded.token
    return world


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: str(kind.name))
async def test_the_demo_has_documents_in_every_status(demo_world: World, kind: DocumentKind) -> None:
    statuses = {each["status"] for each in await documents(demo_world, kind.name)}
    assert statuses == set(get_args(kind.table.body.model_fields["status"].annotation))


async def test_the_orders_are_of_the_days_around_today(demo_world: World) -> None:
    today = demo_world.clock.now().date()
    orders = await documents(demo_world, "sales-orders")
    days = [(date.fromisoformat(each["requested_date"]) - today).days for each in orders]
    assert (len(orders), min(days), max(days)) == (62, -10, 10)
    late = [each for each, day in zip(orders, days, strict=True) if day < 0 and each["status"] in OPEN]
    assert 3 <= len(late) <= 10, "some are late"
    assert Counter(bool(each["customer_reference"]) for each in orders)[True] > 10
    assert Counter(bool(each["external_ref"]) for each in orders)[True] > 30


async def test_something_is_short_has_come_back_and_is_owed(demo_world: World) -> None:
    items = [
        each["items"] for each in await documents(demo_world, "purchase-orders") if each["status"] == "PARTIAL"
    ]
    assert all(any(0 <= item["received_quantity"] < item["quantity"] for item in each) for each in items)
    lines = [line for each in await documents(demo_world, "returns") for line in each["lines"]]
    assert {line["disposition"] for line in lines} == {"RESTOC", "CARANTINA", "DISTRUS", None}
    owed = (await demo_world.call("GET", "/api/v2/packaging/balances?per_page=100")).body["data"]
    assert any(each["quantity"] > 0 for each in owed)
    low = (await demo_world.call("GET", "/api/v2/stock?low=true&per_page=100")).body["data"]
    assert 0 < len(low) < 10


async def test_its_people_have_done_it(demo_world: World) -> None:
    admin = await signed_in(demo_world)
    for path, person in (("sales-orders", "demo-office"), ("receptions", "demo-warehouse")):
        page = await admin.get(f"/companies/{demo_world.company}/{path}/1")
        assert f"{person}@example.com" in page.text


async def test_a_day_is_made_once(demo_world: World) -> None:
    """A day is created once, whatever has happened to its documents and however old it is."""
    (cancelled, *_) = [
        each["id"] for each in await documents(demo_world, "sales-orders") if each["status"] == "CREAT"
    ]
    await demo_world.send("PATCH", f"/api/sales-orders/{cancelled}", {"status": "ANULAT"})
    before = await documents(demo_world, "sales-orders")
    demo_world.clock.advance(40 * 86_400)
    again = await demo.load(demo_world.installation)
    demo_world.token = again.token
    assert await documents(demo_world, "sales-orders") == before


async def test_the_token_of_the_start_before_goes_on(world: World) -> None:
    first = await demo.load(world.installation)
    second = await demo.load(world.installation)
    world.company = second.company_id
    assert await tokens(world) == [("demo", True), ("demo", True)]
    for token in (first.token, second.token):
        assert (await world.call("GET", "/api/articles", token=token)).body["data"] != []


async def test_tokens_that_people_have_made_stay(world: World) -> None:
    def make(tx: Transaction) -> str:
        week = timedelta(days=7)
        return create_token(tx, email=EMAIL, name="shop", abilities=[EVERYTHING], company_codes=[], lifetime=week)

    await demo.load(world.installation)
    await world.installation.platform.write(make)
    await demo.load(world.installation)
    assert await tokens(world) == [("demo", True), ("shop", True), ("demo", True)]


async def test_nobody_is_warned_of_its_end(world: World) -> None:
    await demo.load(world.installation)
    world.clock.advance(25 * 86_400)
    await demo.load(world.installation)
    admin = await signed_in(world)
    assert 'href="/admin/tokens?expires_within' not in (await admin.get("/today")).text
