"""What a record's page shows of others: the transports of an order, what an article is in."""

import re

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.records.test_parts import section
from tests.support.planner import MOVED, STOCK, Planner, open_planner
from tests.support.shop import Shop


@pytest.fixture
async def planner(shop: Shop) -> Planner:
    """With an order on the transport T1."""
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
