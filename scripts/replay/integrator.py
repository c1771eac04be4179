"""The integrator, which sends the planned purchase orders, receptions, sales orders and returns over REST, as the
program of a shop does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from replay.client import Client, client, work_off
from replay.invoices import Invoice
from replay.plan import Plan
from replay.returned import WAY, Return, ReturnedLine
from replay.shop import Shop
from replay.supply import AT_ONCE, DELETED, PurchaseOrder, Reception, every_order

DELIVERED: Final = ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT")
PURCHASES: Final = "/api/purchase-orders"
RECEPTIONS: Final = "/api/receptions"
ORDERS: Final = "/api/v2/sales-orders"
RETURNS: Final = "/api/returns"
Job = TypeVar("Job")
Tell = Callable[[str, int, int], None]
"""A function that reports progress.

The arguments are the phase, the number of finished jobs, and the number of all jobs.
"""


@dataclass(frozen=True, slots=True)
class Phase:
    name: str
    documents: int
    lines: int
    requests: int
    seconds: float


@dataclass(slots=True)
class Integrator:
    """The integrator and the ids that it has received. `look` is called when everything is received and nothing is
    sold.

    `purchases` and `orders` have the ids of documents by reference. `items` has the ids of a purchase order's
    items, by the order's reference and the article's code.
    """

    client: Client
    partners: dict[str, int]
    warehouse_id: int
    tell: Tell
    look: Callable[[], None]
    purchases: dict[str, int] = field(default_factory=dict)
    items: dict[str, dict[str, int]] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)

    async def run(self, plan: Plan) -> None:
        receptions = [each for order in every_order(plan.purchases) for each in (*order.drafts, *order.receptions)]
        arrivals = [each.arrivals for each in receptions]
        orders = list(plan.month.orders.values())
        await self._phase("purchase orders", plan.purchases, self._buy, [each.lines for each in plan.purchases])
        await self._phase("receptions", plan.purchases, self._receive_all, arrivals)
        self.look()
        await self._phase("sales orders", orders, self._sell, [each.lines for each in orders])
        await self._phase("returns", plan.returns, self._take_back, [each.lines for each in plan.returns])

    async def _phase(
        self,
        name: str,
        jobs: Sequence[Job],
        work: Callable[[Job], Awaitable[None]],
        lines: Sequence[Sequence[Any]],
    ) -> None:
        """Run a phase. `lines` has the lines of each document that the jobs create."""
        before = self.client.requests
        seconds = await work_off(jobs, work, lambda done: self.tell(name, done, len(jobs)))
        requests = self.client.requests - before
        self.phases.append(Phase(name, len(lines), sum(map(len, lines)), requests, seconds))

    async def _buy(self, order: PurchaseOrder) -> None:
        items = [{"article_code": code, "quantity": quantity} for code, quantity in order.lines]
        body = self._body(order.ref, order.supplier) | {"items": items}
        made = await self.client.send("POST", PURCHASES, order.ref, 201, body)
        self.purchases[order.ref] = made["id"]
        self.items[order.ref] = {item["article_code"]: item["id"] for item in made["items"]}

    async def _receive_all(self, order: PurchaseOrder) -> None:
        """Receive all parts but the last at the same time, then the last, so that its lots and serials are the
        newest.
        """
        for draft in order.drafts:
            await self._receive(order, draft)
        *first, last = order.receptions
        await asyncio.gather(*(self._receive(order, reception) for reception in first))
        await self._receive(order, last)
        if order.rest is not None:
            path = f"{PURCHASES}/{self.purchases[order.ref]}"
            await self.client.send("PATCH", path, f"{order.ref}-close", 200, {"status": order.way[-1]})
            await self._buy(order.rest)
            await self._receive_all(order.rest)

    async def _receive(self, order: PurchaseOrder, reception: Reception) -> None:
        ids = self.items[order.ref]
        body = {
            "external_ref": reception.ref,
            "purchase_order_id": self.purchases[order.ref],
            "warehouse_id": self.warehouse_id,
            "selected_items": [
                {
                    "po_item_id": ids[arrival.code],
                    "quantity_um3pl": arrival.units,
                    "lot_number": arrival.lot,
                    "serial_data": arrival.serials or None,
                }
                for arrival in reception.arrivals
            ],
        }
        if reception.way == AT_ONCE:
            await self.client.send_twice(RECEPTIONS, reception.ref, body | {"status": AT_ONCE[-1]})
            return
        path = await self._create(RECEPTIONS, reception.ref, body)
        if reception.way == DELETED:
            await self.client.send("DELETE", path, f"{reception.ref}-delete", 204, {})
        await self._walk(path, reception.ref, reception.way)

    async def _sell(self, order: Invoice) -> None:
        lines = [{"article_code": code, "quantity": quantity} for code, quantity in order.lines]
        body = self._body(order.number, order.partner) | {"requested_date": order.day, "lines": lines}
        made = await self.client.send("POST", ORDERS, order.number, 201, body)
        self.orders[order.number] = made["id"]
        for status in DELIVERED[1:]:
            path = f"{ORDERS}/{made['id']}/status"
            await self.client.send("PATCH", path, f"{order.number}-{status}", 200, {"status": status})

    async def _take_back(self, returned: Return) -> None:
        order_id = self.orders[returned.order] if returned.order else None
        lines = [_line(line, returned.is_decided_late) for line in returned.lines]
        body = self._body(returned.ref, returned.partner) | {"sales_order_id": order_id, "lines": lines}
        made = await self.client.send("POST", RETURNS, returned.ref, 201, body)
        path = f"{RETURNS}/{made['id']}"
        decided: dict[str, Any] = {}
        if returned.is_decided_late:
            pairs = zip(made["lines"], returned.lines, strict=True)
            decided = {"lines": [{"id": line["id"], "disposition": each.disposition} for line, each in pairs]}
        await self._walk(path, returned.ref, WAY, decided)

    async def _create(self, path: str, ref: str, body: dict[str, Any]) -> str:
        """Create a record and return its path."""
        made = await self.client.send("POST", path, ref, 201, body)
        return f"{path}/{made['id']}"

    async def _walk(
        self, path: str, ref: str, way: tuple[str, ...], at_last: dict[str, Any] | None = None
    ) -> None:
        """Move a document through its statuses. `at_last` has the fields to send with the last status."""
        for status in way[1:]:
            said = at_last or {} if status == way[-1] else {}
            await self.client.send("PATCH", path, f"{ref}-{status}", 200, {"status": status, **said})

    def _body(self, ref: str, partner: str) -> dict[str, Any]:
        return {
            "external_ref": ref,
            "partner_id": self.partners[partner],
            "warehouse_id": self.warehouse_id,
        }


def _line(line: ReturnedLine, is_decided_late: bool) -> dict[str, Any]:
    return {
        "article_code": line.code,
        "quantity": line.quantity,
        "disposition": None if is_decided_late else line.disposition,
        "lot_number": line.lot,
        "serials": line.serials or None,
    }


def replay(shop: Shop, plan: Plan, tell: Tell, look: Callable[[], None]) -> list[Phase]:
    """Replay the plan. Raise Failed at the first request that is refused or not answered."""
    return asyncio.run(_replay(shop, plan, tell, look))


async def _replay(shop: Shop, plan: Plan, tell: Tell, look: Callable[[], None]) -> list[Phase]:
    (warehouse_id,) = shop.ids("/api/warehouses").values()
    async with client(shop) as connected:
        integrator = Integrator(connected, shop.ids("/api/partners"), warehouse_id, tell, look)
        await integrator.run(plan)
    return integrator.phases
