"""The transport planner of a site, who calls the transport integration with the bearer token of a warehouse."""

from collections.abc import Sequence
from typing import Any

from tests.support.crates import balances, open_crates
from tests.support.shop import Shop
from tests.support.world import ETSM, Answer, World
from wmsd.maintenance.file_checks.company_checks import examine
from wmsd.tenants.sites import actions as sites
from wmsd.tenants.sites.schema import NewSite

MOVED = "sales_order.status_changed"
PACKED = "packaging.movement_recorded"
STOCK = "stock.updated"
EUR_4 = {"packaging_type_code": "EUR", "quantity": 4}
EUR_3 = {"packaging_type_code": "EUR", "quantity": 3}


async def new_site(world: World, warehouse: str, warehouse_id: int, company: str = "ACME") -> str:
    """Create a site named after its warehouse, and return its token."""
    new = NewSite(name=f"Planner {warehouse}")
    _, token = await world.installation.platform.write(
        lambda tx: sites.create_site(tx, company, warehouse_id, warehouse, new)
    )
    return token


class Planner:
    def __init__(self, shop: Shop, token: str) -> None:
        self.shop = shop
        self.world = shop.world
        self.token = token

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        status: int = 200,
        events: Sequence[str] = (),
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Call the integration, and check the status and the events. `path` is the path below the integration."""
        return await self.world.call(
            method,
            f"{ETSM}{path}",
            body,
            status=status,
            events=events,
            token=self.token,
            company="",
            headers=headers,
        )

    async def plan(self, *codes: str, ecc: str = "T1", status: int = 201, **fields: Any) -> Answer:
        events = fields.pop("events", ())
        body = {"transport_ecc": ecc, "order_codes": list(codes), **fields}
        return await self.call("POST", "/transports", body, status=status, events=events)

    async def move(self, to: str, *events: str, ecc: str = "T1", status: int = 200, **fields: Any) -> Answer:
        path = f"/transports/{ecc}/status"
        return await self.call("POST", path, {"status": to, **fields}, status=status, events=events)

    async def send(self, to: str, ecc: str = "T1", **fields: Any) -> Answer:
        """Report a status of a transport, and check nothing."""
        path = f"{ETSM}/transports/{ecc}/status"
        return await self.world.send("POST", path, {"status": to, **fields}, token=self.token, company="")

    async def shown(self, ecc: str = "T1") -> Any:
        return (await self.call("GET", f"/transports/{ecc}")).body

    async def orders(self, ecc: str = "T1") -> list[str]:
        """Return the statuses of the orders of the transport."""
        return [order["status"] for order in (await self.shown(ecc))["orders"]]

    async def by_hand(self, order_id: int, *statuses: str) -> None:
        for status in statuses:
            path = f"/api/v2/sales-orders/{order_id}/status"
            answer = await self.world.send("PATCH", path, {"status": status})
            assert answer.status == 200, answer.raw

    async def packaging(self) -> dict[tuple[str, int], float]:
        return await balances(self.world)

    async def everything(self) -> list[Any]:
        """Return everything that a call could change, with the ledgers and the events."""
        tables = ("sales_orders", "stock", "stock_movements", "packaging_movements", "events")
        mine = ("transports", "transport_orders", "transport_packaging", "packaging_balances")
        return [await self.world.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in (*tables, *mine)]

    async def is_right(self) -> None:
        assert (await (await self.world.database()).read_long(examine)).differences == []


async def open_planner(shop: Shop) -> Planner:
    """Open the packaging and return the planner of the warehouse MAIN."""
    await open_crates(shop.world)
    return Planner(shop, await new_site(shop.world, "MAIN", 1))
