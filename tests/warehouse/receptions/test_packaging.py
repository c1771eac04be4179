"""Packaging that arrives from the supplier with a reception."""

import pytest

from tests.support.crates import EUR, balances, movements, open_crates
from tests.support.dock import SUPPLIER, Dock, arrival

PATH = "/api/receptions"
PALLETS = {"packaging_type_id": EUR, "quantity": 4}
POSTED = [
    "reception.status_changed",
    "purchase_order.status_changed",
    "packaging.movement_recorded",
    "stock.updated",
]


@pytest.fixture
async def crates(dock: Dock) -> Dock:
    await open_crates(dock.world)
    return dock


@pytest.mark.parametrize("at_once", [True, False])
async def test_packaging_comes_in_with_the_goods_and_we_owe_it_to_the_supplier(
    crates: Dock, at_once: bool
) -> None:
    order = await crates.purchase((1, 10))
    if at_once:
        sent = arrival(order, packaging=[PALLETS])
        await crates.world.call("POST", PATH, sent, status=201, events=["reception.created", *POSTED])
    else:
        await crates.receive(order, status="CREAT")
        sent = {"status": "FINALIZAT", "packaging": [PALLETS]}
        await crates.world.call("PATCH", f"{PATH}/1", sent, events=POSTED)
        await crates.world.call("PATCH", f"{PATH}/1", sent)
    assert await balances(crates.world) == {("EUR", SUPPLIER): -4}
    assert await movements(crates.world) == [("IN", 4, "reception", 1)]


async def test_a_draft_takes_no_packaging_along(crates: Dock) -> None:
    order = await crates.purchase((1, 10))
    for status in ("CREAT", "IN_LUCRU"):
        answer = await crates.world.call(
            "POST", PATH, arrival(order, status=status, packaging=[PALLETS]), status=422
        )
        assert answer.errors["packaging"] == ["is allowed only together with the status FINALIZAT"]


async def test_what_is_wrong_with_the_packaging_leaves_the_goods_where_they_are(crates: Dock) -> None:
    order = await crates.purchase((1, 10))
    wrong = arrival(order, packaging=[{"packaging_type_code": "NO", "quantity": 1}])
    answer = await crates.world.call("POST", PATH, wrong, status=422)
    assert list(answer.errors) == ["packaging.0.packaging_type_code"]
    assert (await crates.stock(), await crates.purchase_order(order)) == ((20, 0, 20), ("CREAT", [0]))
