"""The expected reply to a request, and the events that the request must cause. A request with an Idempotency-Key
acts once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.warehouse.sales_orders.model import FIELDS, Order, Orders, Refused
from tests.warehouse.stock.model import Event, Json, Telling
from wmsd.base.clock import OrderedClock

ADDRESSES = {
    "create": ("POST", "/api/v2/sales-orders"),
    "replace": ("PUT", "/api/sales-orders/{}"),
    "update": ("PATCH", "/api/sales-orders/{}"),
    "move": ("PATCH", "/api/v2/sales-orders/{}/status"),
    "get": ("GET", "/api/v2/sales-orders/{}"),
}


@dataclass(frozen=True)
class Request:
    action: str
    order_id: int | None = None
    body: Json = field(default_factory=dict)
    key: str | None = None
    """The Idempotency-Key of the request. In a batch, this is the key of the single request, not of the batch."""

    def as_sent(self) -> Json:
        """Return the request in the form that a batch contains."""
        method, path = ADDRESSES[self.action]
        sent: Json = {"method": method, "path": path.format(self.order_id)}
        if self.action != "get":
            sent["body"] = self.body
        if self.key:
            sent["headers"] = {"Idempotency-Key": self.key}
        return sent


@dataclass(frozen=True)
class Batch:
    requests: list[Request]
    key: str | None

    def as_sent(self) -> Json:
        return {"requests": [request.as_sent() for request in self.requests]}


class Reply(NamedTuple):
    """A reply. `body` is the record, or the code and details of a refusal; `errors` are the paths of the
    errors.
    """

    status: int
    body: Any
    errors: frozenset[str] = frozenset()
    is_replayed: bool = False


def told(status: int, body: Json, headers: Mapping[str, str]) -> Reply:
    """Return the real reply in the form of the model."""
    is_replayed = headers.get("Idempotent-Replayed") == "true"
    if status < 400:
        return Reply(status, body, is_replayed=is_replayed)
    said = {"code": body["code"], "details": body.get("details")}
    return Reply(status, said, frozenset(body.get("errors", ())), is_replayed)


class Kept(NamedTuple):
    body: Json
    reply: Reply


class Answers:
    def __init__(self) -> None:
        self.orders = Orders()
        self.kept: dict[tuple[object, ...], Kept] = {}

    def answer(self, request: Request, clock: OrderedClock, batch_key: str = "") -> tuple[Reply, list[Event]]:
        """Return the model's reply and events; `batch_key` is the key of the surrounding batch and the position in
        the batch.
        """
        self.orders.clock.begin(clock)
        key = request.key or batch_key
        scope = (request.action, request.order_id, key)
        telling = Telling(self.orders.stock)
        try:
            if key and (replayed := self._replayed(self.kept.get(scope), request)):
                return replayed, []
            reply = self._perform(request, telling)
        except Refused as refused:
            return Reply(refused.status, {"code": refused.code, "details": refused.details}, refused.errors), []
        if key and request.action != "get":
            self.kept[scope] = Kept(request.body, reply)
        events = telling.end()
        self.orders.clock.end(bool(events))
        return reply, events

    def _replayed(self, kept: Kept | None, request: Request) -> Reply | None:
        """Return the stored reply, however old it is: no key is deleted in these tests."""
        if kept is None:
            return None
        if kept.body != request.body:
            raise Refused(422, "IDEMPOTENCY_KEY_REUSED", ["Idempotency-Key"], {"id": kept.reply.body["id"]})
        return kept.reply._replace(is_replayed=True)

    def _perform(self, request: Request, telling: Telling) -> Reply:
        body = request.body
        if request.action == "create":
            return Reply(201, self.orders.create(body, telling).record())
        order = self._order(request)
        if request.action != "get":
            names = FIELDS if request.action == "replace" else body.keys() & set(FIELDS)
            given = {name: body.get(name) for name in names}
            self.orders.change(order, given, body.get("lines"), body.get("status", order.status), telling)
        return Reply(200, order.record())

    def _order(self, request: Request) -> Order:
        order = self.orders.by_id.get(request.order_id or 0)
        if order is None:
            raise Refused(404, "NOT_FOUND")
        return order
