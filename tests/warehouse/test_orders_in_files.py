"""New orders in a file are created together, yet each order sees the stock that the orders before it have left."""

import pytest

from tests.support.world import World
from wmsd.contract.bulk_imports import CellError, ImportRefused

ORDER = "code,status,partner_code,warehouse_code,article_code,quantity,lot_number\n"


@pytest.fixture(autouse=True)
async def trading(world: World) -> None:
    """Stock ten apples: four of an older lot, six of a younger one."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("partners", "code,name,type\nP1,One,CLIENT\n")
    await world.import_csv("articles", "code,name\nA,Apple\n")
    count = "article_code,warehouse_code,lot_number,quantity\n"
    await world.import_csv("stock-count", f"{count}A,MAIN,OLD,4\n")
    await world.import_csv("stock-count", f"{count}A,MAIN,OLD,4\nA,MAIN,YOUNG,6\n")


async def take(world: World, *orders: str) -> list[tuple[str, str]]:
    """Import orders, and return code and status of all orders. A row is code, status, quantity and lot."""
    rows = (row.split(",") for row in orders)
    text = "".join(f"{code},{status},P1,MAIN,A,{quantity},{lot}\n" for code, status, quantity, lot in rows)
    await world.import_csv("sales-orders", ORDER + text)
    return [tuple(row) for row in await world.rows("SELECT code, status FROM sales_orders ORDER BY id")]


async def refused(world: World, *orders: str) -> list[CellError]:
    with pytest.raises(ImportRefused) as found:
        await take(world, *orders)
    assert await world.rows("SELECT * FROM sales_orders") == []
    return found.value.outcome.errors.first


async def shipped(world: World) -> list[tuple[str, str, int]]:
    """Return the loaded goods in the order of the ledger: order code, lot and quantity."""
    moved = """
        SELECT code, lot_number, -quantity / 1000000 FROM stock_movements
        JOIN sales_orders ON sales_orders.id = document_id WHERE kind = 'loading' ORDER BY stock_movements.id
    """
    return [tuple(row) for row in await world.rows(moved)]


async def test_rows_without_a_code_are_of_the_order_before_them_with_their_external_ref(world: World) -> None:
    columns = "code,external_ref,partner_code,warehouse_code,article_code,quantity\n"
    outcome = await world.import_csv("sales-orders", f"{columns}O1,E1,P1,MAIN,A,1\n,E1,P1,MAIN,A,2\n")
    assert (outcome.created, outcome.updated, outcome.errors.first) == (1, 1, [])
    assert [tuple(row) for row in await world.rows("SELECT code, external_ref FROM sales_orders")] == [
        ("O1", "E1")
    ]
    assert [row[0] for row in await world.rows("SELECT quantity FROM sales_order_lines")] == [2_000_000]


async def test_one_cannot_have_what_those_before_it_have(world: World) -> None:
    errors = await refused(world, "O1,,6,", "O2,,5,", "O3,,4,")
    assert errors == [CellError(3, "quantity", "is more than the available stock: 4 available, 5 requested")]


async def test_what_a_cancelled_one_gives_back_those_after_it_may_have(world: World) -> None:
    found = await take(world, "O1,ANULAT,10,", "O2,,10,")
    assert found == [("O1", "ANULAT"), ("O2", "CREAT")]


async def test_what_one_before_it_has_shipped_none_can_name(world: World) -> None:
    errors = await refused(world, "O1,LIVRAT,4,", "O2,,1,OLD")
    assert errors == [
        CellError(3, "quantity", "is more than the available stock of lot OLD: 0 available, 1 requested")
    ]


async def test_what_one_after_it_names_leaves_with_one_that_was_before_it(world: World) -> None:
    await take(world, "O1,LIVRAT,1,", "O2,LIVRAT,2,OLD", "O3,LIVRAT,2,")
    assert await shipped(world) == [("O1", "OLD", 1), ("O2", "OLD", 2), ("O3", "OLD", 1), ("O3", "YOUNG", 1)]


async def test_the_oldest_leave_first_in_the_order_of_the_file(world: World) -> None:
    await take(world, "O1,LIVRAT,3,", "O2,INCARCAT,3,", "O3,IN_LUCRU,1,", "O4,LIVRAT,3,")
    assert await shipped(world) == [
        ("O1", "OLD", 3),
        ("O2", "OLD", 1),
        ("O2", "YOUNG", 2),
        ("O4", "YOUNG", 3),
    ]
    assert await world.rows("SELECT quantity / 1000000, reserved / 1000000 FROM stock") == [(1, 1)]


async def test_a_known_one_gives_its_stock_to_those_after_it_alone(world: World) -> None:
    await take(world, "O1,,10,")
    assert await take(world, "O1,ANULAT,10,", "O2,,10,") == [("O1", "ANULAT"), ("O2", "CREAT")]


async def test_more_than_are_created_at_once(world: World) -> None:
    found = await take(world, *(f"O{number},LIVRAT,0.01," for number in range(450)))
    assert len(found) == 450
    assert await world.rows("SELECT quantity, reserved FROM stock") == [(5_500_000, 0)]


async def test_a_file_with_some_columns_of_a_place_leaves_the_others_as_they_are(world: World) -> None:
    async def place() -> object:
        (shown,) = (await world.call("GET", "/api/sales-orders")).body["data"]
        return shown["ship_to"] and {name: value for name, value in shown["ship_to"].items() if value}

    async def take_place(columns: str, values: str) -> None:
        header = f"code,partner_code,warehouse_code,article_code,quantity,{columns}\n"
        await world.import_csv("sales-orders", f"{header}O1,P1,MAIN,A,1,{values}\n")

    await take_place("ship_to.name,ship_to.city", "Ana Pop,Cluj")
    assert await place() == {"name": "Ana Pop", "city": "Cluj"}
    await take_place("ship_to.phone", "0700")
    assert await place() == {"name": "Ana Pop", "city": "Cluj", "phone": "0700"}
    await take_place("ship_to.city,ship_to.phone", ",")
    assert await place() == {"name": "Ana Pop"}
    await take_place("ship_to.name", "")
    assert await place() is None
    await take_place("carrier", "Fan")
    assert await place() is None
