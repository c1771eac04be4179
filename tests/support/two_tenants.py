"""Two companies that have a record of every kind, and for every operation a sample request about these records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from tests.support.planner import new_site
from tests.support.world import ETSM, Answer, World, all_rows
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction

OWN, THEIRS = "OWN", "THEIRS"
PLENTY: Final = 1_000_000
NEVER: Final = "999999"
"""An id that no record has, in any company."""
WEBHOOK: Final = {
    "name": "ERP",
    "url": "https://hooks.example.com/",
    "events": ["article.created"],
    "secret": "s" * 32,
    "active": False,
}
ARTICLE: Final = {"code": "A", "name": "Alpha", "client_id": 1}
ORDER: Final = {
    "partner_id": 1,
    "warehouse_id": 1,
    "client_id": 1,
    "lines": [{"article_id": 1, "quantity": 1, "warehouse_id": 1}],
}
PURCHASE: Final = {"partner_id": 1, "warehouse_id": 1, "items": [{"article_id": 1, "quantity": PLENTY}]}
RECEPTION: Final = {
    "purchase_order_id": 1,
    "warehouse_id": 1,
    "selected_items": [{"po_item_id": 1, "quantity_um3pl": 1}],
}
RETURN: Final = {
    "partner_id": 1,
    "warehouse_id": 1,
    "sales_order_id": 2,
    "lines": [{"article_id": 1, "quantity": 1}],
}
COUNT: Final = {"warehouse_id": 1, "lines": [{"article_id": 1, "lot_number": "NONE", "counted_quantity": 0}]}
"""A count of goods that are not in stock, so booking it corrects nothing."""
TRANSPORT: Final = {"transport_ecc": "T1", "order_codes": []}
LONG: Final = "x" * 300
LONG_NAME: Final = {"name": LONG}
LONG_REFERENCE: Final = {"external_ref": LONG}


@dataclass(frozen=True)
class Sample:
    """A sample request.

    `parts` has for each part of the path the kind of record that it names. `wrong` has fields that no interface
    accepts.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    wrong: Mapping[str, Any] = field(default_factory=dict)
    fresh: str = ""
    """The field of the body in which no two requests may have the same value."""
    consumes: str = ""
    """The path of a list from which the operation removes a record. Each request needs another record."""


def _new(body: Mapping[str, Any], wrong: Mapping[str, Any], fresh: str = "") -> Sample:
    return Sample({}, body, wrong, fresh)


def _one(kind: str, body: Mapping[str, Any] | None = None, wrong: Mapping[str, Any] | None = None) -> Sample:
    return Sample({"id": kind}, body, wrong or {})


def _gone(kind: str, consumes: str) -> Sample:
    return Sample({"id": kind}, consumes=consumes)


SAMPLES: Final[Mapping[str, Sample]] = {
    "get_article": _one("article"),
    "create_article": _new(ARTICLE, LONG_NAME, fresh="code"),
    "replace_article": _one("article", ARTICLE, LONG_NAME),
    "update_article": _one("article", {"name": "Alpha"}, LONG_NAME),
    "update_article_by_code": Sample({"code": "article's code"}, {"name": "Alpha"}, LONG_NAME),
    "get_client": _one("client"),
    "get_partner": _one("partner"),
    "get_warehouse": _one("warehouse"),
    "get_sales_order": _one("sales order"),
    "create_sales_order": _new(ORDER, LONG_REFERENCE),
    "replace_sales_order": _one("sales order", ORDER, LONG_REFERENCE),
    "update_sales_order": _one("sales order", {"partner_id": 1}, LONG_REFERENCE),
    "change_sales_order_status": _one(
        "sales order", {"status": "CREAT"}, {"packaging": [{"packaging_type_code": "EUR", "quantity": -1}]}
    ),
    "get_purchase_order": _one("purchase order"),
    "create_purchase_order": _new(PURCHASE, LONG_REFERENCE),
    "replace_purchase_order": _one("purchase order", PURCHASE, LONG_REFERENCE),
    "update_purchase_order": _one("purchase order", {"partner_id": 1}, LONG_REFERENCE),
    "delete_purchase_order": _gone("purchase order", "/api/purchase-orders"),
    "get_reception": _one("reception"),
    "create_reception": _new(RECEPTION, LONG_REFERENCE),
    "replace_reception": _one("reception", RECEPTION, LONG_REFERENCE),
    "update_reception": _one("reception", {"warehouse_id": 1}, LONG_REFERENCE),
    "delete_reception": _gone("reception", "/api/receptions"),
    "get_return": _one("return"),
    "create_return": _new(RETURN, LONG_REFERENCE),
    "replace_return": _one("return", RETURN, LONG_REFERENCE),
    "update_return": _one("return", {"partner_id": 1}, LONG_REFERENCE),
    "get_count": _one("count"),
    "create_count": _new(COUNT, LONG_REFERENCE),
    "replace_count": _one("count", COUNT, LONG_REFERENCE),
    "update_count": _one("count", {"notes": "Again"}, LONG_REFERENCE),
    "book_count": _gone("count", "/api/v2/counts"),
    "get_webhook": _one("webhook"),
    "create_webhook": _new(WEBHOOK, LONG_NAME),
    "replace_webhook": _one("webhook", WEBHOOK, LONG_NAME),
    "update_webhook": _one("webhook", {"name": "ERP"}, LONG_NAME),
    "delete_webhook": _gone("webhook", "/api/webhooks"),
    "rotate_webhook_secret": _one("webhook", {"secret": "s" * 32}, {"secret": "short"}),
    "list_webhook_deliveries": _one("webhook with a log"),
    "redeliver_webhook": Sample({"id": "webhook with a log", "delivery": "delivery"}),
    "redeliver_webhook_range": _one("webhook with a log", {"since": "2000-01-01T00:00:00Z"}, {"since": "x"}),
    "test_webhook": _one("webhook with a log"),
    "run_batch": _new({"requests": [{"method": "GET", "path": "/api/v2/nothing"}]}, {"requests": []}),
    "get_transport": Sample({"transport_ecc": "transport"}),
    "plan_transport": _new(TRANSPORT, {"vehicle": LONG}, fresh="transport_ecc"),
    "move_transport": Sample({"transport_ecc": "transport"}, {"status": "INCARCAT"}, {"occurred_at": "x"}),
}
"""The samples by the name of the operation. An operation without path parts and body needs no sample."""
NOTHING_TO_SAY: Final = Sample()
BODIES: Final = {
    "/api/purchase-orders": PURCHASE,
    "/api/receptions": RECEPTION,
    "/api/returns": RETURN,
    "/api/v2/counts": COUNT,
    "/api/webhooks": WEBHOOK,
}
_numbers = count(1)


def needs_sample(operation: Operation) -> bool:
    return bool(operation.path_types) or operation.body is not None


def sample_of(operation: Operation) -> Sample:
    return SAMPLES[operation.name] if needs_sample(operation) else NOTHING_TO_SAY


def body_of(sample: Sample) -> dict[str, Any] | None:
    if sample.body is None:
        return None
    return {**sample.body, **({sample.fresh: f"N{next(_numbers)}"} if sample.fresh else {})}


@dataclass
class TwoTenants:
    """One of the two companies.

    `there` has for each kind of record an id that both companies have. `alone` has for each kind an id that only
    this company has.
    """

    world: World
    code: str
    id: int
    operator: int
    site_token: str = ""
    there: dict[str, str] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)

    async def send(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a request as an admin who may do everything, and check that it succeeds."""
        if path.startswith(ETSM):
            options |= {"token": self.site_token}
        answer = await self.world.send(method, path, body, company=self.id, **options)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.raw.decode()}"
        return answer

    async def new(self, path: str) -> str:
        """Create another record in the list at this path, and return its id."""
        return str((await self.send("POST", path, BODIES[path])).id)

    async def forget_webhooks(self) -> None:
        """Delete unneeded webhooks, because a company may have only a limited number."""
        keep = max(int(self.there["webhook with a log"]), int(self.alone.get("webhook with a log", 0)))

        def forget(tx: Transaction) -> None:
            tx.execute("DELETE FROM webhook_subscriptions WHERE id > ?", (keep,))

        await (await self.world.database(self.id)).write(forget)

    async def order(self, *statuses: str, quantity: int = 1) -> Answer:
        lines = [{"article_id": 1, "quantity": quantity, "warehouse_id": 1}]
        made = await self.send("POST", "/api/sales-orders", {**ORDER, "lines": lines})
        for status in statuses:
            await self.send("PATCH", f"/api/v2/sales-orders/{made.id}/status", {"status": status})
        return made

    async def logged_webhook(self) -> tuple[str, str]:
        """Create a subscription with two deliveries. Return its id and the id of the last delivery.

        No delivery is sent, because its address is forbidden.
        """
        webhook = await self.new("/api/webhooks")

        def forbid(tx: Transaction) -> None:
            tx.execute("UPDATE webhook_subscriptions SET url = 'https://127.0.0.1:1/' WHERE id = ?", (webhook,))

        await (await self.world.database(self.id)).write(forbid)
        await self.send("POST", f"/api/v2/webhooks/{webhook}/test")
        delivery = await self.send("POST", f"/api/v2/webhooks/{webhook}/test")
        return webhook, str(delivery.id)

    async def stock_up(self) -> dict[str, str]:
        """Create one more record of every kind. Return the new ids by kind."""
        number = str(len((await self.send("GET", "/api/articles")).body["data"]) + 1)
        first = number == "1"
        code, warehouse, pallet = ("A", "MAIN", "EUR") if first else (f"{self.code}-{number}",) * 3
        await self.import_csv("clients", f"code,name\nC{number},Client\n")
        await self.import_csv("partners", f"code,name,type\nP{number},Partner,CLIENT\n")
        await self.import_csv("warehouses", f"code,name\n{warehouse},Warehouse\n")
        await self.import_csv("packaging-types", f"code,name\n{pallet},Pallet\n")
        article = (await self.send("POST", "/api/articles", {**ARTICLE, "code": code})).id
        await self.import_csv("stock", f"article_code,warehouse_code,quantity\n{code},MAIN,{PLENTY}\n")
        await self.import_csv(
            "packaging-movements",
            f"packaging_type_code,partner_code,direction,quantity\n{pallet},P{number},OUT,5\n",
        )
        order = await self.order()
        shipped = await self.order("IN_LUCRU", "INCARCAT", "LIVRAT", quantity=1000)
        loaded, ready = await self.order("IN_LUCRU"), await self.order("IN_LUCRU")
        transport = f"T-{code}"
        if not self.site_token:
            self.site_token = await new_site(self.world, "MAIN", 1, self.code)
        await self.send(
            "POST", f"{ETSM}/transports", {"transport_ecc": transport, "order_codes": [loaded.body["code"]]}
        )
        await self.send("POST", f"{ETSM}/transports/{transport}/status", {"status": "INCARCAT"})
        purchase = await self.new("/api/purchase-orders")
        reception = await self.new("/api/receptions")
        returned = await self.new("/api/returns")
        counted = await self.new("/api/v2/counts")
        webhook = await self.new("/api/webhooks")
        logged, delivery = await self.logged_webhook()
        return {
            "article": str(article),
            "article's code": code,
            "client": number,
            "partner": number,
            "warehouse": number,
            "packaging type": number,
            "packaging type's code": pallet,
            "sales order": str(order.id),
            "shipped order": str(shipped.id),
            "order's code": ready.body["code"],
            "purchase order": purchase,
            "purchase order's item": purchase,
            "reception": reception,
            "return": returned,
            "count": counted,
            "webhook": webhook,
            "webhook with a log": logged,
            "delivery": delivery,
            "transport": transport,
        }

    async def import_csv(self, kind: str, text: str) -> None:
        before, self.world.company = self.world.company, self.id
        outcome = await self.world.import_csv(kind, text)
        self.world.company = before
        assert not outcome.errors, outcome

    async def rows(self) -> dict[str, list[Any]]:
        """Return every row of every table."""
        return await (await self.world.database(self.id)).read(all_rows)


async def open_premises(world: World, more_of_theirs: int, more_of_own: int = 0) -> tuple[TwoTenants, TwoTenants]:
    """Create the companies OWN and THEIRS, each with an operator of its own, and return them in this order.

    The records of both companies have the same ids. Each company has the given number of further records of every
    kind.
    """
    found = []
    for code, operator in ((OWN, "3PL"), (THEIRS, "4PL")):
        operator_id = await world.new_operator(operator)
        found.append(TwoTenants(world, code, await world.new_company(code, operator=operator), operator_id))
    own, theirs = found
    own.there, theirs.there = await own.stock_up(), await theirs.stock_up()
    assert own.there == theirs.there
    for _ in range(more_of_own):
        await own.stock_up()
    for _ in range(more_of_theirs):
        theirs.alone = await theirs.stock_up()
    return own, theirs
