"""Packaging that leaves with the load of an order, and comes back with its unloading."""

from typing import Any

import pytest

from tests.support.crates import CRATE, EUR, balances, movements, open_crates
from tests.support.shop import Shop

EVENTS = ["sales_order.status_changed", "packaging.movement_recorded", "stock.updated"]
PALLETS = {"packaging_type_id": EUR, "quantity": 4}


@pytest.fixture
async def crates(shop: Shop) -> Shop:
    await open_crates(shop.world)
    return shop


@pytest.mark.parametrize(
    ("method", "path"), [("PATCH", "/api/v2/sales-orders/1/status"), ("PATCH", "/api/sales-orders/1")]
)
async def test_packaging_goes_out_with_the_load_once(crates: Shop, method: str, path: str) -> None:
    await crates.order(status="IN_LUCRU")
    sent = {"status": "INCARCAT", "packaging": [PALLETS]}
    await crates.world.call(method, path, sent, events=EVENTS)
    await crates.world.call(method, path, sent)
    assert await balances(crates.world) == {("EUR", 1): 4}
    assert await movements(crates.world) == [("OUT", 4, "sales_order", 1)]


async def test_put_takes_it_along_too(crates: Shop) -> None:
    order = await crates.order(status="IN_LUCRU")
    sent = {**order.body, "status": "INCARCAT", "packaging": [PALLETS]}
    await crates.world.call("PUT", "/api/sales-orders/1", sent, events=EVENTS)
    assert await balances(crates.world) == {("EUR", 1): 4}


async def test_unloading_takes_back_what_this_load_sent_out(crates: Shop) -> None:
    await crates.order(status="IN_LUCRU")
    path = "/api/v2/sales-orders/1/status"
    crate = {"packaging_type_code": "CRATE", "quantity": 10}
    events = [*EVENTS[:1], *["packaging.movement_recorded"] * 2, "stock.updated"]
    await crates.world.call("PATCH", path, {"status": "INCARCAT", "packaging": [PALLETS, crate]}, events=events)
    await crates.world.call("PATCH", path, {"status": "IN_LUCRU"}, events=events)
    assert await balances(crates.world) == {("EUR", 1): 0, ("CRATE", 1): 0}
    await crates.world.call("PATCH", path, {"status": "INCARCAT", "packaging": [PALLETS]}, events=EVENTS)
    await crates.world.call("PATCH", path, {"status": "IN_LUCRU"}, events=EVENTS)
    assert [direction for direction, *_ in await movements(crates.world)] == [
        "OUT",
        "OUT",
        "IN",
        "IN",
        "OUT",
        "IN",
    ]


@pytest.mark.parametrize(
    ("line", "path", "sentence"),
    [
        ({"packaging_type_id": 9, "quantity": 1}, "packaging_type_id", "is not a packaging type of this company"),
        (
            {"packaging_type_code": "NO", "quantity": 1},
            "packaging_type_code",
            "is not a packaging type of this company",
        ),
        ({"quantity": 1}, "packaging_type_id", "is required unless packaging_type_code is given"),
        ({"packaging_type_id": CRATE, "quantity": 0}, "quantity", "must be greater than 0"),
        (
            {"packaging_type_id": EUR, "packaging_type_code": "CRATE", "quantity": 1},
            "packaging_type_code",
            "is not the code of packaging type 1",
        ),
    ],
)
async def test_a_line_that_is_wrong_leaves_everything_where_it_is(
    crates: Shop, line: dict[str, Any], path: str, sentence: str
) -> None:
    await crates.order(status="IN_LUCRU")
    sent = {"status": "INCARCAT", "packaging": [PALLETS, line]}
    answer = await crates.world.call("PATCH", "/api/v2/sales-orders/1/status", sent, status=422)
    assert answer.errors == {f"packaging.1.{path}": [sentence]}
    assert (await crates.stock(), await balances(crates.world)) == ((20, 3, 17), {})


@pytest.mark.parametrize("status", ["CREAT", "ANULAT", "IN_LUCRU", None])
async def test_packaging_without_the_move_that_takes_it_along_is_refused(crates: Shop, status: str | None) -> None:
    await crates.order()
    sent = {"packaging": [PALLETS], **({"status": status} if status else {})}
    answer = await crates.world.call("PATCH", "/api/sales-orders/1", sent, status=422)
    assert answer.errors == {"packaging": ["is allowed only together with the status INCARCAT"]}
    body = {
        "partner_id": 1,
        "warehouse_id": 1,
        "lines": [{"article_id": 1, "quantity": 1}],
        "packaging": [PALLETS],
    }
    await crates.world.call("POST", "/api/v2/sales-orders", body, status=422)
