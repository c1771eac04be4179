"""A shop that also receives goods: articles of every kind of tracking, a supplier, purchase orders
and receptions.
"""

from typing import Any

from tests.support.shop import Shop, fill_shop
from tests.support.world import Answer, World
from wmsd.base.quantity import SCALE
from wmsd.warehouse.purchase_orders import store as purchase_orders

A, B, LOT, SERIAL, BOX, THIRD, LENIENT = 1, 2, 4, 5, 6, 7, 8
ARTICLES = """code,name,track_lot,track_serial,unit_3pl,um3pl_factor,over_receipt_pct
LOT,In lots,true,false,,1,
SERIAL,With serials,false,true,,1,
BOX,By the box,false,false,box,12,
THIRD,By thirds,false,false,third,0.333333,
LENIENT,A tenth more is fine,false,false,,1,10
"""
SUPPLIER = 4


class Dock(Shop):
    """A shop with the further articles LOT, SERIAL, BOX (12 in one), THIRD (0.333333 in one) and LENIENT (10 %
    over).

    Partner 4 is the supplier.
    """

    async def purchase(self, *items: tuple[int, float], **fields: Any) -> Answer:
        """Create a purchase order from pairs of article and quantity."""
        body = {
            "partner_id": SUPPLIER,
            "warehouse_id": 1,
            "items": [{"article_id": article, "quantity": quantity} for article, quantity in items],
            **fields,
        }
        answer = await self.world.send("POST", "/api/purchase-orders", body)
        assert answer.status == 201, answer.raw
        return answer

    async def receive(self, order: Answer, *items: dict[str, Any], **fields: Any) -> Answer:
        """Create a reception of the order. The reception is posted directly unless `status` says otherwise."""
        answer = await self.world.send("POST", "/api/receptions", arrival(order, *items, **fields))
        assert answer.status == 201, answer.raw
        return answer

    async def bring(self, article: int, *items: dict[str, Any]) -> Answer:
        """Order and receive goods of an article. Each item needs no po_item_id."""
        order = await self.purchase((article, sum(item["quantity_um3pl"] for item in items)))
        po_item_id = order.body["items"][0]["id"]
        return await self.receive(order, *({"po_item_id": po_item_id, **item} for item in items))

    async def lots(self, article: int, warehouse: int = 1) -> dict[str, tuple[float, float]]:
        """Return the quantity and the available quantity of each lot, the oldest first."""
        record = await self.detail(article, warehouse)
        return {lot["lot_number"]: (lot["quantity"], lot["available"]) for lot in record["lots"]}

    async def serials(self, article: int = SERIAL, warehouse: int = 1) -> list[str]:
        found: list[str] = (await self.detail(article, warehouse))["serials"]
        return found

    async def detail(self, article: int, warehouse: int = 1) -> dict[str, Any]:
        path = f"/api/v2/stock?detail=lots&article_id={article}&warehouse_id={warehouse}"
        (record,) = (await self.world.call("GET", path)).body["data"]
        found: dict[str, Any] = record
        return found

    async def set_over_receipt_pct(self, percent: int) -> None:
        """Set the company's tolerance for over-receipts, in percent."""
        database = await self.world.database()
        await database.write(lambda tx: purchase_orders.set_over_receipt_pct(tx, percent * SCALE))

    async def purchase_order(self, order: Answer) -> tuple[str, list[float]]:
        """Return the status of the order, and the received quantity of each item."""
        record = (await self.world.call("GET", f"/api/purchase-orders/{order.id}")).body
        return record["status"], [item["received_quantity"] for item in record["items"]]

    async def moved(self, kind: str) -> list[tuple[float, str | None, str | None]]:
        """Return the quantity, lot and serial of each movement of this kind."""
        rows = await self.world.rows(
            "SELECT quantity / 1000000.0, lot_number, serial FROM stock_movements WHERE kind = ? ORDER BY id",
            (kind,),
        )
        return [(quantity, lot, serial) for quantity, lot, serial in rows]


def arrival(order: Answer, *items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the body of a reception of the order. Without items, it receives everything that was ordered."""
    everything = [{"po_item_id": item["id"], "quantity_um3pl": item["quantity"]} for item in order.body["items"]]
    return {
        "purchase_order_id": order.id,
        "warehouse_id": 1,
        "status": "FINALIZAT",
        "selected_items": list(items) or everything,
        **fields,
    }


async def fill_dock(world: World) -> None:
    await fill_shop(world)
    await world.import_csv("partners", "code,name,type\nSUP,Supplier,FURNIZOR\n")
    await world.import_csv("articles", ARTICLES)


async def open_dock(world: World) -> Dock:
    await world.fill(fill_dock)
    return Dock(world)
