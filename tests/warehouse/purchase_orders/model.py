"""The expected behaviour of purchase orders: decisions, sections 2 and 3, in plain Python."""

from collections.abc import Callable, Sequence

from tests.support.moments import Moments
from tests.warehouse.documents.model import Book, Document, FieldErrors, kept_ids, refuse
from tests.warehouse.stock.goods import GOODS
from tests.warehouse.stock.model import Json, Telling, millionths, shown

EXPECTS_MORE = ("CREAT", "PARTIAL")


class PurchaseOrders(Book):
    """The purchase orders. `named` returns the items that receptions name, `received` the orders that have a
    reception.
    """

    entity, series, lines = "purchase_order", "PO", "items"
    fields = ("code", "partner_id", "warehouse_id", "external_ref", "expected_date", "notes")
    told = ("code", "partner_id", "warehouse_id")
    goods = ("article_id", "quantity")
    moves = {"CREAT": ["ANULAT"], "PARTIAL": ["RECEPTIONAT"], "RECEPTIONAT": [], "ANULAT": []}
    lines_change_in = ("CREAT",)
    fields_change_in = ("CREAT", "PARTIAL")

    def __init__(self, clock: Moments, named: Callable[[], set[int]], received: Callable[[], set[int]]) -> None:
        super().__init__(clock)
        self.named, self.received = named, received

    def shown_line(self, line: Json) -> Json:
        return {
            "id": line["id"],
            "article_id": line["article_id"],
            "article_code": GOODS[line["article_id"]].code,
            "quantity": shown(line["quantity"]),
            "received_quantity": shown(line["received"]),
        }

    def create(self, body: Json, telling: Telling) -> Document:
        fields: Json = {name: body.get(name) for name in self.fields}
        items, errors = self._read(body["items"], [])
        if body.get("status", "CREAT") != "CREAT":
            errors.append(("status", "VALIDATION_FAILED"))
        refuse([*errors, *self.names_wrong(None, fields)])
        return self.begin(fields, items, telling)

    def change(self, document: Document, given: Json, sent: list[Json] | None, status: str, to: Telling) -> None:
        fields = self.changed(document, given)
        items, errors = self._read(sent, document.lines) if sent is not None else (document.lines, [])
        changes_items = self.differ(document.lines, items)
        changes = changes_items or fields != document.fields
        changes_first = self.changes_first(document, status, changes, changes_items)
        if changes:
            refuse([*errors, *self.names_wrong(document, fields)])
            gone = {item["id"] for item in document.lines} - {item["id"] for item in items}
            if changes_items and gone & self.named():
                raise self.forbidden(document)
        if not changes_first:
            self._move(document, status, to)
        if changes:
            self.update(document, fields, items if changes_items else document.lines, to)
        if changes_first:
            self._move(document, status, to)

    def _move(self, order: Document, status: str, telling: Telling) -> None:
        if status != order.status:
            self.reach(order, status, telling)

    def delete(self, document: Document) -> None:
        if document.status != "CREAT" or document.id in self.received():
            raise self.forbidden(document)
        del self.by_id[document.id]

    def drafted(self) -> list[Document]:
        """Return the orders that have a reception."""
        return [order for order_id, order in self.by_id.items() if order_id in self.received()]

    def receive(self, order: Document, quantities: dict[int, int], telling: Telling) -> None:
        """Apply a finalised reception to the order; `quantities` are by item id, in millionths."""
        order.lines = [
            {**item, "received": item["received"] + quantities.get(item["id"], 0)} for item in order.lines
        ]
        order.updated_at = self.clock.now
        status = "PARTIAL" if self.remaining(order) else "RECEPTIONAT"
        if status != order.status:
            self.reach(order, status, telling)

    def may_be_received(self, order: Document) -> bool:
        """Return True if the order can be received. A completed order can, up to its tolerance. An order that was
        closed short or cancelled cannot.
        """
        return order.status in EXPECTS_MORE or (order.status == "RECEPTIONAT" and not self.remaining(order))

    def remaining(self, order: Document) -> list[Json]:
        return [
            {
                "po_item_id": item["id"],
                "ordered": shown(item["quantity"]),
                "received": shown(item["received"]),
                "remaining": shown(item["quantity"] - item["received"]),
            }
            for item in order.lines
            if item["received"] < item["quantity"]
        ]

    def _read(self, sent: Sequence[Json], before: Sequence[Json]) -> tuple[list[Json], FieldErrors]:
        items: list[Json] = []
        errors: FieldErrors = []
        for number, (item, item_id) in enumerate(zip(sent, kept_ids(sent, before), strict=True)):
            if item["article_id"] not in GOODS:
                errors.append((f"items.{number}.article_id", "INVALID_ARTICLE"))
            read = {"id": item_id, "article_id": item["article_id"], "quantity": millionths(item["quantity"])}
            items.append({**read, "received": 0})
        return items, errors
