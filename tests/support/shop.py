"""A company with goods to sell."""

from typing import Any

from tests.support.world import Answer, World


class Shop:
    """A company with partners 1 and 2, and warehouses 1 (MAIN) and 2 (EAST).

    Its articles are 1 (A, min_stock 10), 2 (B) and 3 (OLD, not active). In MAIN are 20 of A and 1.5 of B. In EAST
    are 5 of A.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    async def order(self, *lines: dict[str, Any], status: str = "CREAT", **fields: Any) -> Answer:
        """Create an order and move it to the status. Without lines, it orders 3 A from MAIN."""
        body = {"partner_id": 1, "warehouse_id": 1, "lines": list(lines) or [{"article_id": 1, "quantity": 3}]}
        answer = await self.world.send("POST", "/api/sales-orders", {**body, **fields})
        assert answer.status == 201, answer.raw
        for step in WAYS[status]:
            answer = await self.world.send("PATCH", f"/api/v2/sales-orders/{answer.id}/status", {"status": step})
            assert answer.status == 200, answer.raw
        return answer

    async def stock(self, article: int = 1, warehouse: int = 1) -> tuple[float, float, float]:
        """Return the quantity in stock, the reserved quantity and the available quantity."""
        path = f"/api/stock?article_id={article}&warehouse_id={warehouse}"
        (record,) = (await self.world.call("GET", path)).body["data"]
        return record["quantity"], record["reserved"], record["available"]

    async def ledger(self) -> list[tuple[str, float]]:
        """Return the kind and the quantity of every movement except counts."""
        rows = await self.world.rows(
            "SELECT kind, quantity / 1000000.0 FROM stock_movements WHERE kind <> 'count' ORDER BY id"
        )
        return [(kind, quantity) for kind, quantity in rows]


WAYS = {
    "CREAT": (),
    "IN_LUCRU": ("IN_LUCRU",),
    "INCARCAT": ("IN_LUCRU", "INCARCAT"),
    "LIVRAT": ("IN_LUCRU", "INCARCAT", "LIVRAT"),
    "ANULAT": ("ANULAT",),
}


async def fill_shop(world: World) -> None:
    await world.import_csv("partners", "code,name,type\nP1,First,CLIENT\nP2,Second,CLIENT\nP3,Gone,CLIENT\n")
    await world.import_csv("partners", "code,name,active\nP3,Gone,false\n")
    await world.import_csv("clients", "code,name\nC1,Owner\n")
    await world.import_csv("warehouses", "code,name,active\nMAIN,Main,true\nEAST,East,true\nSHUT,Shut,false\n")
    await world.import_csv(
        "articles", "code,name,min_stock,active\nA,Alpha,10,true\nB,Beta,,true\nOLD,Old,,false\n"
    )
    await world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,20\nB,MAIN,1.5\nA,EAST,5\n")


async def open_shop(world: World) -> Shop:
    await world.fill(fill_shop)
    return Shop(world)
