"""A new form preselects the warehouse or the client if there is only one."""

import pytest

from tests.interfaces.pages.records.test_act import form_of
from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.world import World

NEW_ORDER = "/companies/1/sales-orders/new"
READS = ["sales-orders:write", "sales-orders:read", "warehouses:read"]


@pytest.fixture
async def world_with_one(world: World) -> World:
    await world.import_csv("warehouses", "code,name,active\nMAIN,Main,true\nSHUT,Shut,false\n")
    return world


async def test_the_only_active_warehouse_is_filled_in(world_with_one: World) -> None:
    office = await signed_in(world_with_one, "ACME", abilities=READS)
    assert form_of(await office.get(NEW_ORDER))["warehouse"] == "MAIN"


async def test_of_several_none_is_filled_in(world_with_one: World) -> None:
    await world_with_one.import_csv("warehouses", "code,name\nEAST,East\n")
    office = await signed_in(world_with_one, "ACME", abilities=READS)
    assert form_of(await office.get(NEW_ORDER))["warehouse"] == ""


async def test_who_may_not_read_warehouses_types_it(world_with_one: World) -> None:
    office = await signed_in(world_with_one, "ACME", abilities=READS[:2])
    assert form_of(await office.get(NEW_ORDER))["warehouse"] == ""


async def test_a_field_that_may_be_empty_stays_empty(world_with_one: World) -> None:
    await world_with_one.import_csv("clients", "code,name\nC1,Owner\n")
    admin = await signed_in(world_with_one)
    assert form_of(await admin.get("/companies/1/articles/new"))["client"] == ""


async def test_what_the_address_says_stands_before_it(world_with_one: World) -> None:
    office = await signed_in(world_with_one, "ACME", abilities=READS)
    assert form_of(await office.get(f"{NEW_ORDER}?warehouse=OTHER"))["warehouse"] == "OTHER"
