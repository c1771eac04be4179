"""The expected reply to a request for a document, and the events that the request must cause."""

from dataclasses import dataclass, field

from tests.support.moments import Moments
from tests.warehouse.documents.model import Book
from tests.warehouse.purchase_orders.model import PurchaseOrders
from tests.warehouse.receptions.model import Receptions
from tests.warehouse.returns.model import Returns
from tests.warehouse.sales_orders.answers import Reply
from tests.warehouse.sales_orders.model import Refused
from tests.warehouse.sales_orders.shipping import SalesOrders
from tests.warehouse.stock.model import Event, Json, Telling
from wmsd.base.clock import OrderedClock


@dataclass(frozen=True)
class Request:
    method: str
    kind: str
    """The last part of the path: purchase-orders, receptions, sales-orders, returns."""
    id: int | None = None
    body: Json = field(default_factory=dict)
    key: str | None = None
    """The Idempotency-Key of the request."""

    @property
    def path(self) -> str:
        return f"/api/{self.kind}" if self.id is None else f"/api/{self.kind}/{self.id}"


class Depot:
    """The expected state of a company's documents and stock."""

    def __init__(self) -> None:
        self.clock = Moments()
        self.sales = SalesOrders(self.clock)
        self.stock = self.sales.stock
        self.receptions = Receptions(self.clock, self.stock)
        self.purchases: PurchaseOrders = self.receptions.orders
        self.returns = Returns(self.clock, self.sales)
        self.books: dict[str, Book] = {
            "purchase-orders": self.purchases,
            "receptions": self.receptions,
            "sales-orders": self.sales,
            "returns": self.returns,
        }
        self.kept: dict[tuple[str, str, str], tuple[Json, Reply]] = {}

    def answer(self, request: Request, clock: OrderedClock) -> tuple[Reply, list[Event]]:
        self.clock.begin(clock)
        scope = (request.method, request.path, request.key or "")
        telling = Telling(self.stock)
        try:
            if request.key and scope in self.kept:
                return self._replayed(request, *self.kept[scope]), []
            reply = self._perform(self.books[request.kind], request, telling)
        except Refused as refused:
            return Reply(refused.status, {"code": refused.code, "details": refused.details}, refused.errors), []
        if request.key:
            self.kept[scope] = (request.body, reply)
        events = telling.end()
        self.clock.end(bool(events))
        return reply, events

    def _replayed(self, request: Request, body: Json, reply: Reply) -> Reply:
        if body != request.body:
            raise Refused(422, "IDEMPOTENCY_KEY_REUSED", ["Idempotency-Key"], {"id": reply.body["id"]})
        return reply._replace(is_replayed=True)

    def _perform(self, book: Book, request: Request, telling: Telling) -> Reply:
        body = request.body
        if request.id is None:
            return Reply(201, book.record(book.create(body, telling)))
        document = book.by_id.get(request.id)
        if document is None:
            raise Refused(404, "NOT_FOUND")
        if request.method == "DELETE":
            book.delete(document)
            return Reply(204, None)
        names = book.fields if request.method == "PUT" else body.keys() & set(book.fields)
        given = {name: body.get(name) for name in names}
        book.change(document, given, body.get(book.lines), body.get("status", document.status), telling)
        return Reply(200, book.record(document))
