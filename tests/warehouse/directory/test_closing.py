"""A warehouse with goods or open documents cannot be switched off: the goods would be locked in."""

from typing import Any

import pytest

from tests.support.shop import Shop
from wmsd.base.problems import FieldErrors, Problem
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.warehouse.directory.directory_administration import change_warehouse
from wmsd.warehouse.directory.schema import WarehouseChanges

GOODS = (
    "cannot be switched off: {} of its stock records still have goods. First ship, move or book out these goods"
)
OPEN = "cannot be switched off: {} of its documents are open. Finish or cancel them first"
MAIN, EAST, SHUT = 1, 2, 3


async def errors(shop: Shop, warehouse_id: int, **changes: Any) -> FieldErrors:
    """Return the errors of a change; the dict is empty if the change is made."""
    body = WarehouseChanges(**changes)
    try:
        await (await shop.world.database()).write(lambda tx: change_warehouse.action(tx, warehouse_id, body))
    except Problem as problem:
        return problem.errors
    return {}


async def test_goods_and_open_documents_keep_it_open(shop: Shop) -> None:
    await shop.order()
    both = {"active": [GOODS.format(2), OPEN.format(1)]}
    assert await errors(shop, MAIN, active=False) == both
    assert await errors(shop, MAIN, name="Renamed", active=True) == {}
    assert await errors(shop, SHUT, active=False) == {}
    with pytest.raises(ImportRefused) as refused:
        await shop.world.import_csv("warehouses", "code,name,active\nMAIN,Main,false\nSHUT,Shut,false\n")
    (told,) = refused.value.outcome.errors.first
    assert (told.line, told.column, told.sentence) == (2, "active", GOODS.format(2))


async def test_an_empty_one_is_switched_off(shop: Shop) -> None:
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,EAST,0\n")
    line = {"article_id": 1, "quantity": 1}
    purchase = {"partner_id": 1, "warehouse_id": EAST, "items": [line]}
    made = await shop.world.send("POST", "/api/purchase-orders", purchase)
    assert await errors(shop, EAST, active=False) == {"active": [OPEN.format(1)]}
    await shop.world.send("PATCH", f"/api/purchase-orders/{made.id}", {"status": "ANULAT"})
    await shop.order(line, status="ANULAT")
    assert await errors(shop, EAST, active=False) == {}
    assert (await shop.world.call("GET", f"/api/warehouses/{EAST}")).body["active"] is False
