"""The destination of a sales order: when it may change, and which addresses are refused."""

from typing import Any

import pytest

from tests.support.shop import Shop
from tests.warehouse.sales_orders.test_sales_orders import NOWHERE, UPDATED, body


@pytest.mark.parametrize("status", ["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"])
@pytest.mark.parametrize("field", ["ship_to", "carrier", "customer_reference", "tracking_number"])
async def test_when_an_order_may_go_elsewhere(shop: Shop, field: str, status: str) -> None:
    order = await shop.order(status=status)
    path = f"/api/sales-orders/{order.id}"
    allowed = {"ship_to": ("CREAT",), "tracking_number": ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT")}
    value = {**NOWHERE, "city": "Iași"} if field == "ship_to" else "X"
    if status in allowed.get(field, ("CREAT", "IN_LUCRU", "INCARCAT")):
        changed = await shop.world.call("PATCH", path, {field: value}, events=UPDATED)
        assert changed.body[field] == value
        assert (await shop.world.call("PATCH", path, {field: value})).raw == changed.raw
    else:
        refused = await shop.world.call("PATCH", path, {field: value}, status=409)
        assert refused.body["message"].startswith(f"This sales order is {status}. ")
        assert (await shop.world.call("GET", path)).body[field] is None


@pytest.mark.parametrize(
    ("ship_to", "errors"),
    [
        ({"town": "Cluj"}, {"ship_to.town": ["is an unknown field"]}),
        ({"city": 5}, {"ship_to.city": ["must be a string"]}),
        ("Cluj", {"ship_to": ["must be an object"]}),
    ],
)
async def test_a_place_that_is_none(shop: Shop, ship_to: Any, errors: Any) -> None:
    answer = await shop.world.call("POST", "/api/sales-orders", body(ship_to=ship_to), status=422)
    assert answer.errors == errors


@pytest.mark.parametrize("nowhere", [{}, NOWHERE, {"city": ""}, {"city": None, "street": ""}])
async def test_a_place_of_which_nothing_is_said_is_none(shop: Shop, nowhere: dict[str, Any]) -> None:
    order = await shop.order(ship_to=nowhere)
    assert order.body["ship_to"] is None
    path = f"/api/sales-orders/{order.id}"
    assert (await shop.world.call("PATCH", path, {"ship_to": nowhere})).raw == order.raw


async def test_a_place_is_replaced_as_a_whole(shop: Shop) -> None:
    order = await shop.order(ship_to={"city": "Cluj", "phone": "0700"})
    path = f"/api/sales-orders/{order.id}"
    changed = await shop.world.call("PATCH", path, {"ship_to": {"street": "Lungă 1"}}, events=UPDATED)
    assert changed.body["ship_to"] == {**NOWHERE, "street": "Lungă 1"}
    cleared = await shop.world.call("PATCH", path, {"ship_to": None}, events=UPDATED)
    assert cleared.body["ship_to"] is None
