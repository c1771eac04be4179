"""Related records on a record's page: the transports of an order, and the places of an article."""

import re

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_browse import rows, signed_in
from tests.interfaces.pages.records.test_parts import section
from tests.support.dock import Dock
from tests.support.planner import MOVED, STOCK, Planner, open_planner
from tests.support.shop import Shop


@pytest.fixture
async def planner(shop: Shop) -> Planner:
    """Create an order on the transport T1."""
    await shop.order(status="IN_LUCRU")
    planner = await open_planner(shop)
    await planner.plan("SO-000001", vehicle="B-17")
    return planner


async def test_an_order_shows_the_transports_that_it_is_in(planner: Planner) -> None:
    visitor = await signed_in(planner.world)
    ((reference, warehouse, status, vehicle, *moments),) = section(
        await visitor.get("/companies/1/sales-orders/1"), "Transports"
    )
    assert (reference, warehouse, status, vehicle) == ("T1", "MAIN Main", "Created", "B-17")
    assert moments[:2] == ["\N{EN DASH}"] * 2
    await planner.move("INCARCAT", MOVED, STOCK)
    ((_, _, status, _, loaded_at, *_),) = section(await visitor.get("/companies/1/sales-orders/1"), "Transports")
    assert (status, loaded_at[:6]) == ("Loaded", "20 Nov")


async def test_an_order_without_a_transport_says_nothing_of_them(planner: Planner, shop: Shop) -> None:
    await shop.order()
    visitor = await signed_in(planner.world)
    assert "<h2>Transports</h2>" not in (await visitor.get("/companies/1/sales-orders/2")).text


async def test_who_reads_orders_sees_their_transports(planner: Planner) -> None:
    await planner.world.new_user("orders@example.com", "member", ["ACME"], ["sales-orders:read"])
    orders = await signed_in_as(planner.world, "orders@example.com")
    ((reference, warehouse, *_),) = section(await orders.get("/companies/1/sales-orders/1"), "Transports")
    assert (reference, warehouse) == ("T1", "1")
    assert not re.search("<h2>Stock</h2>", (await orders.get("/companies/1/sales-orders/1")).text)


async def test_an_article_shows_the_open_orders_that_have_it(dock: Dock) -> None:
    await dock.order(
        {"article_id": 1, "quantity": 2}, {"article_id": 1, "quantity": 3}, requested_date="2026-12-01"
    )
    await dock.order({"article_id": 2, "quantity": 1})
    await dock.order({"article_id": 1, "quantity": 4}, status="LIVRAT")
    await dock.purchase((1, 7), (2, 9))
    visitor = await signed_in(dock.world)
    seen = await visitor.get("/companies/1/articles/1")
    ((code, status, partner, quantity, _, due, *_),) = section(seen, "Sales orders")
    assert (code, status, partner, quantity, due) == ("SO-000001", "Created", "P1 First", "5", "01 Dec 2026")
    ((code, status, _, quantity, *_),) = section(seen, "Purchase orders")
    assert (code, status, quantity) == ("PO-000001", "Created", "7")
    assert [cells[0] for cells in rows(await visitor.get("/companies/1/sales-orders?article=A"))] == [
        *("SO-000003", "SO-000001")
    ]
    for address in ("sales-orders?article=A", "purchase-orders?article=A", "stock?article_code=A"):
        assert f'href="/companies/1/{address}"' in seen.text
    assert [cells[1] for cells in section(seen, "Last movements")] == ["Shipped", "Count", "Count"]


async def test_an_article_that_no_open_order_has_says_so(dock: Dock) -> None:
    await dock.order(status="LIVRAT")
    visitor = await signed_in(dock.world)
    seen = await visitor.get("/companies/1/articles/1")
    assert seen.text.count("No open order contains this article.") == 2
    assert section(seen, "Sales orders") == []


async def test_an_article_shows_only_what_one_may_read(dock: Dock) -> None:
    await dock.order()
    await dock.purchase((1, 7))
    await dock.world.new_user("articles@example.com", "member", ["ACME"], ["articles:read", "sales-orders:read"])
    articles = await signed_in_as(dock.world, "articles@example.com")
    seen = await articles.get("/companies/1/articles/1")
    assert "<h2>Sales orders</h2>" in seen.text
    for hidden in ("Stock", "Purchase orders", "Lots", "Serials", "Last movements"):
        assert f"<h2>{hidden}</h2>" not in seen.text
