"""A company with records of every kind, and the requests for them: by GraphQL, and by REST for comparison."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.support.dock import LOT, SERIAL, Dock, open_dock
from tests.support.world import Answer, World
from tests.warehouse.packaging.depot import Depot

PATH = "/api/graphql"
Json = dict[str, Any]


@dataclass(frozen=True)
class Listed:
    """A list: its path in REST, and some filters, with the names of their GraphQL arguments."""

    path: str
    filters: tuple[Json, ...] = ({},)
    parameters: Json = field(default_factory=dict)
    """The query parameters of every REST request."""
    renamed: dict[str, str] = field(default_factory=dict)
    """The REST names of arguments that have another name in GraphQL. Arguments in `path` are not query
    parameters.
    """


EARLY = "2020-01-01T00:00:00.000Z"
LISTS = {
    "articles": Listed(
        "/api/articles",
        ({}, {"search": "A"}, {"code": "LOT"}, {"barcode": "2"}, {"low": True}, {"updated_since": EARLY}),
    ),
    "article_changes": Listed("/api/articles/sync", ({}, {"updated_since": EARLY})),
    "stock": Listed(
        "/api/v2/stock",
        (
            {},
            {"warehouse_id": "1"},
            {"article_id": "1"},
            {"article_code": "A"},
            {"sales_order_id": "1"},
            {"low": True},
            {"updated_since": EARLY},
        ),
        {"detail": "lots"},
    ),
    "sales_orders": Listed(
        "/api/v2/sales-orders",
        (
            {},
            {"status": ["CREAT", "IN_LUCRU"]},
            {"partner_id": "2"},
            {"external_ref": "S-1"},
            {"code": "none"},
            {"updated_since": EARLY},
            {"requested_from": "2026-12-01", "requested_to": "2026-12-24"},
            {"article_id": "1"},
        ),
    ),
    "purchase_orders": Listed(
        "/api/purchase-orders",
        (
            {},
            {"status": ["RECEPTIONAT"]},
            {"partner_id": "4"},
            {"external_ref": "P-1"},
            {"article_id": "1"},
            {"updated_since": EARLY},
            {"expected_from": "2026-12-01", "expected_to": "2026-12-24"},
        ),
    ),
    "receptions": Listed(
        "/api/receptions",
        ({}, {"status": ["CREAT"]}, {"purchase_order_id": "1"}, {"external_ref": "R-1"}, {"updated_since": EARLY}),
    ),
    "returns": Listed(
        "/api/returns",
        (
            {},
            {"status": ["CREAT", "FINALIZAT"]},
            {"partner_id": "1"},
            {"sales_order_id": "4"},
            {"external_ref": "B-1"},
            {"updated_since": EARLY},
        ),
    ),
    "counts": Listed(
        "/api/v2/counts",
        (
            {},
            {"status": ["CREAT", "IN_LUCRU"]},
            {"warehouse_id": "1"},
            {"external_ref": "C-1"},
            {"updated_since": EARLY},
        ),
    ),
    "clients": Listed("/api/clients", ({}, {"code": "C1"}, {"active": False}, {"updated_since": EARLY})),
    "partners": Listed(
        "/api/partners", ({}, {"code": "P2"}, {"active": True}, {"type": "FURNIZOR"}, {"updated_since": EARLY})
    ),
    "warehouses": Listed("/api/warehouses", ({}, {"code": "EAST"}, {"active": True}, {"updated_since": EARLY})),
    "packaging_types": Listed("/api/v2/packaging/types", ({}, {"code": "CRATE"}, {"updated_since": EARLY})),
    "packaging_balances": Listed(
        "/api/v2/packaging/balances",
        (
            *({}, {"partner_id": "1"}, {"packaging_type_id": "2"}, {"packaging_type_code": "CRATE"}),
            {"since": EARLY},
        ),
    ),
    "packaging_movements": Listed(
        "/api/v2/packaging/movements",
        (
            *({}, {"partner_id": "1"}, {"packaging_type_id": "2"}, {"packaging_type_code": "CRATE"}),
            {"since": EARLY},
        ),
    ),
    "webhooks": Listed("/api/v2/webhooks", ({}, {"updated_since": EARLY})),
    "webhook_deliveries": Listed(
        "/api/v2/webhooks/{id}/deliveries",
        (
            *({"id": "1"}, {"id": "1", "status": ["held"]}, {"id": "1", "since": EARLY}, {"id": "2"}),
            *(
                {"id": "1", "event": ["sales_order.created"]},
                {"id": "1", "record": ["1"]},
                {"id": "1", "until": EARLY},
            ),
        ),
    ),
    "events": Listed(
        "/api/v2/events",
        ({}, {"event": ["sales_order.created", "stock.low"]}, {"since": EARLY}),
        renamed={"after_event": "after"},
    ),
}
"""The lists by the root field of GraphQL."""
RECORDS = {
    "article": "articles",
    "sales_order": "sales_orders",
    "purchase_order": "purchase_orders",
    "reception": "receptions",
    "return": "returns",
    "count": "counts",
    "client": "clients",
    "partner": "partners",
    "warehouse": "warehouses",
    "webhook": "webhooks",
}
"""The root fields of single records, with the root field of their list."""


@dataclass
class Catalogue:
    world: World = field(repr=False)

    async def send(self, document: str, variables: Any = None, name: str | None = None, **options: Any) -> Answer:
        body = {"query": document, "variables": variables, "operationName": name}
        return await self.world.send("POST", PATH, body, **options)

    async def ask(self, document: str, variables: Any = None, **options: Any) -> Any:
        """Return the data of a document without errors."""
        answer = (await self.send(document, variables, **options)).body
        assert "errors" not in answer, answer
        return answer["data"]

    async def errors(self, document: str, variables: Any = None, **options: Any) -> list[Json]:
        found: list[Json] = (await self.send(document, variables, **options)).body["errors"]
        return found

    async def all(self, path: str, **parameters: Any) -> list[Json]:
        """Return every record of a REST list, page by page or by cursor."""
        found: list[Json] = []
        going_on: Json | None = {}
        while going_on is not None:
            given = {name: _text(value) for name, value in {**parameters, **going_on, "per_page": 200}.items()}
            answer = await self.world.send("GET", f"{path}?{urlencode(given)}")
            assert answer.status == 200, answer.raw
            found += answer.body["data"]
            going_on = _rest_of(answer.body)
        return found

    async def listed(self, name: str, arguments: Json) -> list[Json]:
        """Return the records of the list with this name, as REST returns them."""
        of = LISTS[name]
        parameters = {
            of.renamed.get(key, key): value for key, value in arguments.items() if f"{{{key}}}" not in of.path
        }
        return await self.all(of.path.format(**arguments), **of.parameters, **parameters)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)


def _rest_of(page: Any) -> Json | None:
    if "meta" in page:
        current, last = page["meta"]["current_page"], page["meta"]["last_page"]
        return {"page": current + 1} if current < last else None
    return None if page["next_cursor"] is None else {"cursor": page["next_cursor"]}


def literal(value: Any) -> str:
    """Return the value as a GraphQL literal; the caller removes the quotes around names of enums."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value)


ENUMS = frozenset({"status", "type", "auth_type", "disposition"})


def arguments_text(arguments: Json) -> str:
    """Return the arguments in brackets, or an empty text if there are none."""
    shown = [
        f"{name}: {literal(value).replace(chr(34), '') if name in ENUMS else literal(value)}"
        for name, value in arguments.items()
    ]
    return f"({', '.join(shown)})" if shown else ""


WEBHOOK = {"url": "https://hooks.example.com/", "secret": "s" * 32}


async def open_catalogue(world: World) -> Catalogue:
    """Open the dock and create records of every kind: documents in several statuses, lots and serials, packaging,
    and subscriptions with waiting webhook deliveries.
    """
    dock = await open_dock(world)
    await world.import_csv("packaging-types", "code,name\nPAL,Pallet\nCRATE,Crate\n")
    await world.import_csv("clients", "code,name,active,address.city\nC2,Second owner,true,Cluj\nC3,Gone,true,\n")
    await world.import_csv("clients", "code,name,active\nC3,Gone,false\n")
    for number, events in enumerate((["*"], ["sales_order.created", "stock.low"]), 1):
        body = {**WEBHOOK, "name": f"Hook {number}", "events": events}
        await world.call("POST", "/api/webhooks", body, status=201)
    await world.send("PATCH", "/api/articles/1", {"client_id": 1, "weight_kg": 0.000001, "barcodes": ["1", "2"]})
    await world.send("PATCH", "/api/articles/2", {"client_id": 2, "length_mm": 999999999.999999})
    await _receive(dock)
    await _sell(dock)
    await _count(world)
    depot = Depot(world)
    for packaging_type, partner in ((1, 1), (2, 1), (1, 4)):
        await depot.move("OUT", 3.5, packaging_type, partner)
        await depot.move("IN", 1, packaging_type, partner)
    return Catalogue(world)


async def _count(world: World) -> None:
    """Create a count that is counted in part, and a blind count of lots."""
    lines = [{"article_id": 1, "counted_quantity": 40}, {"article_id": 2}]
    for body in ({"external_ref": "C-1", "lines": lines}, {"is_blind": True, "lines": [{"article_id": LOT}]}):
        answer = await world.send("POST", "/api/v2/counts", {"warehouse_id": 1, **body})
        assert answer.status == 201, answer.raw


async def _receive(dock: Dock) -> None:
    order = await dock.purchase((1, 30), (2, 2.5), external_ref="P-1", notes="ă ß €", expected_date="2026-12-01")
    await dock.receive(order, external_ref="R-1", transport_ecc="T1")
    for lot in ("L1", "L2"):
        await dock.bring(LOT, {"quantity_um3pl": 2.5, "lot_number": lot})
    await dock.bring(SERIAL, {"quantity_um3pl": 3, "serial_data": ["S1", "S2", "S3"]})
    waits = await dock.purchase((1, 4))
    await dock.receive(waits, status="CREAT")
    await dock.purchase((2, 1), status="CREAT")


async def _sell(dock: Dock) -> None:
    lines = ({"article_id": 1, "quantity": 1}, {"article_id": 2, "quantity": 0.5})
    await dock.order(*lines, external_ref="S-1", client_id=1, requested_date="2026-12-24")
    await dock.order({"article_id": LOT, "quantity": 1, "lot_number": "L2"}, partner_id=2, notes='"quoted"\n')
    await dock.order({"article_id": SERIAL, "quantity": 1, "serials": ["S2"]}, status="IN_LUCRU")
    sent = await dock.order({"article_id": 1, "quantity": 2, "warehouse_id": 2}, *lines, status="LIVRAT")
    await dock.order(status="ANULAT")
    back = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": sent.id, "reason": "broken"}
    for fields in (
        {"external_ref": "B-1", "lines": [{"article_id": 1, "quantity": 1, "disposition": "RESTOC"}]},
        {"lines": [{"article_id": 2, "quantity": 0.25}]},
    ):
        await dock.world.call("POST", "/api/returns", {**back, **fields}, status=201, events=["return.created"])
    await dock.world.call(
        "POST",
        "/api/returns",
        {"partner_id": 2, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]},
        status=201,
        events=["return.created"],
    )
