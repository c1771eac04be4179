"""The expected behaviour of receptions: decisions, sections 2 and 3, in plain Python that uses no code of wmsd."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.support.moments import Moments
from tests.warehouse.documents.model import Book, Document, FieldErrors, Forbidden, kept_ids, refuse
from tests.warehouse.purchase_orders.model import PurchaseOrders
from tests.warehouse.stock.goods import GOODS, Article, Goods, Moved
from tests.warehouse.stock.model import MILLION, Json, Telling, millionths, shown


class Arrival(NamedTuple):
    """The goods that a reception's item brings. `quantity` is in the article's own unit, in millionths."""

    number: int
    ordered: Json
    quantity: int
    line: Json

    @property
    def article(self) -> Article:
        return GOODS[self.ordered["article_id"]]


class Receptions(Book):
    entity, series, lines = "reception", "RC", "selected_items"
    fields = ("code", "purchase_order_id", "warehouse_id", "transport_ecc", "external_ref", "notes")
    told = ("code", "purchase_order_id", "warehouse_id")
    goods = ("po_item_id", "quantity_um3pl", "lot_number", "serial_data")
    moves = {"CREAT": ["IN_LUCRU", "FINALIZAT", "ANULAT"], "IN_LUCRU": ["FINALIZAT", "ANULAT"]} | {
        status: list[str]() for status in ("FINALIZAT", "ANULAT")
    }
    lines_change_in = fields_change_in = ("CREAT", "IN_LUCRU")

    def __init__(self, clock: Moments, stock: Goods) -> None:
        super().__init__(clock)
        self.stock = stock
        self.orders = PurchaseOrders(clock, self._named, self._received)
        self.company_pct = 0

    def _named(self) -> set[int]:
        return {line["po_item_id"] for reception in self.by_id.values() for line in reception.lines}

    def _received(self) -> set[int]:
        return {reception.fields["purchase_order_id"] for reception in self.by_id.values()}

    def shown_line(self, line: Json) -> Json:
        article = self._ordered()[line["po_item_id"]]["article_id"]
        return {
            **line,
            "article_id": article,
            "article_code": GOODS[article].code,
            "quantity_um3pl": shown(line["quantity_um3pl"]),
            "quantity": None if line["quantity"] is None else shown(line["quantity"]),
        }

    def _ordered(self) -> dict[int, Json]:
        return {item["id"]: item for order in self.orders.by_id.values() for item in order.lines}

    def create(self, body: Json, telling: Telling) -> Document:
        fields: Json = {name: body.get(name) for name in self.fields}
        items = self._read(body["selected_items"], [])
        status = body.get("status", "CREAT")
        errors: FieldErrors = [] if status in ("CREAT", "FINALIZAT") else [("status", "VALIDATION_FAILED")]
        refuse([*errors, *self.names_wrong(None, fields), *self._unfit(fields["purchase_order_id"], items)])
        reception = self.begin(fields, items, telling)
        self._move(reception, status, telling)
        return reception

    def change(self, document: Document, given: Json, sent: list[Json] | None, status: str, to: Telling) -> None:
        fields = self.changed(document, given)
        items = document.lines if sent is None else self._read(sent, document.lines)
        if not (changes_items := self.differ(document.lines, items)):
            items = document.lines
        changes = changes_items or fields != document.fields
        self.changes_first(document, status, changes, changes_items)
        order_id = document.fields["purchase_order_id"]
        order = self.orders.by_id[order_id]
        is_cancelled = status == "ANULAT" != document.status  # also if no more goods of the order are expected
        is_acted_on = changes or status == "FINALIZAT" != document.status
        if is_acted_on and not is_cancelled and not self.orders.may_be_received(order):
            raise self.forbidden(document, status, refused="FINALIZAT")
        if changes:
            errors = [*self.names_wrong(document, fields), *self._unfit(order_id, items, is_cancelled)]
            if fields["purchase_order_id"] != order_id:
                errors.append(("purchase_order_id", "VALIDATION_FAILED"))
            refuse(errors)
        if status == "FINALIZAT" != document.status:
            refuse([*self._unfit(order_id, items)])
        if changes:
            self.update(document, fields, items, to)
        self._move(document, status, to)

    def _move(self, reception: Document, status: str, telling: Telling) -> None:
        if status == reception.status:
            return
        if status != "FINALIZAT":
            self.reach(reception, status, telling)
            return
        order = self.orders.by_id[reception.fields["purchase_order_id"]]
        arrivals = list(self._arrivals(order, reception.lines))
        for arrival in arrivals:
            for moved in self._moved(reception, arrival):
                self.stock.post(moved)
        reception.lines = [{**arrival.line, "quantity": arrival.quantity} for arrival in arrivals]
        self.reach(reception, status, telling)
        self.orders.receive(order, _sums(arrivals), telling)
        if remaining := self.orders.remaining(order):
            telling.tell("reception.partial", {**self.told_of(reception), "remaining": remaining})

    def _moved(self, reception: Document, arrival: Arrival) -> Iterator[Moved]:
        """Yield a movement for each serial, or one movement if the item has no serials."""
        serials = arrival.line["serial_data"]
        place = (arrival.ordered["article_id"], reception.fields["warehouse_id"])
        lot, named = arrival.line["lot_number"], (reception.id, arrival.line["id"])
        for serial in serials or [None]:
            yield Moved("receipt", *place, MILLION if serials else arrival.quantity, 0, 0, lot, serial, *named)

    def delete(self, document: Document) -> None:
        if document.status != "CREAT":
            raise self.forbidden(document)
        del self.by_id[document.id]

    def _read(self, sent: Sequence[Json], before: Sequence[Json]) -> list[Json]:
        return [
            {
                "id": item_id,
                "po_item_id": item["po_item_id"],
                "quantity_um3pl": millionths(item["quantity_um3pl"]),
                "quantity": None,
                "lot_number": item.get("lot_number"),
                "serial_data": item.get("serial_data") or None,
            }
            for item, item_id in zip(sent, kept_ids(sent, before), strict=True)
        ]

    def _arrivals(self, order: Document, items: Sequence[Json]) -> Iterator[Arrival]:
        """Yield the items that the order has and whose quantity is a whole number of millionths."""
        ordered = {item["id"]: item for item in order.lines}
        for number, line in enumerate(items):
            if (item := ordered.get(line["po_item_id"])) is not None:
                quantity, rest = divmod(line["quantity_um3pl"] * GOODS[item["article_id"]].factor, MILLION)
                if not rest:
                    yield Arrival(number, item, quantity, line)

    def _unfit(
        self, order_id: int, items: Sequence[Json], of_closed_too: bool = False
    ) -> Iterator[tuple[str, str]]:
        """Yield the path and the code of every error that forbids posting these items of the order now."""
        order = self.orders.by_id.get(order_id)
        if order is not None and not of_closed_too and not self.orders.may_be_received(order):
            yield "purchase_order_id", Forbidden(order.status, self.orders.moves)
        for path in self._unfit_paths(order_id, items):
            yield path, "VALIDATION_FAILED"

    def _unfit_paths(self, order_id: int, items: Sequence[Json]) -> Iterator[str]:
        order = self.orders.by_id.get(order_id)
        if order is None:
            yield "purchase_order_id"
            return
        arrivals = list(self._arrivals(order, items))
        exact, ordered = {arrival.number for arrival in arrivals}, {item["id"] for item in order.lines}
        for number in range(len(items)):
            if number not in exact:
                wrong = "quantity_um3pl" if items[number]["po_item_id"] in ordered else "po_item_id"
                yield f"selected_items.{number}.{wrong}"
        yield from self._untracked(arrivals)
        sums = _sums(arrivals)
        for arrival in arrivals:
            if arrival.ordered["received"] + sums[arrival.ordered["id"]] > self.most(arrival.ordered):
                yield f"selected_items.{arrival.number}.quantity_um3pl"

    def _untracked(self, arrivals: Sequence[Arrival]) -> Iterator[str]:
        """Yield the paths of lots and serials that are missing, too many, already in stock or named twice."""
        seen = set[tuple[int, str]]()
        for arrival in arrivals:
            path, serials = f"selected_items.{arrival.number}", arrival.line["serial_data"] or []
            if arrival.article.tracks_lots and arrival.line["lot_number"] is None:
                yield f"{path}.lot_number"
            if not arrival.article.tracks_serials:
                yield from [f"{path}.serial_data"] if serials else []
                continue
            if len(serials) * MILLION != arrival.quantity:
                yield f"{path}.serial_data"
            for position, serial in enumerate(serials):
                key = (arrival.ordered["article_id"], serial)
                if self.stock.serial(*key) or key in seen:
                    yield f"{path}.serial_data.{position}"
                seen.add(key)

    def most(self, item: Json) -> int:
        """Return the largest total quantity of the item that may be received, in millionths."""
        own = GOODS[item["article_id"]].over_receipt_pct
        pct = self.company_pct if own is None else own
        quantity: int = item["quantity"]
        return quantity + quantity * pct // (100 * MILLION)


def _sums(arrivals: Sequence[Arrival]) -> Counter[int]:
    sums: Counter[int] = Counter()
    for arrival in arrivals:
        sums[arrival.ordered["id"]] += arrival.quantity
    return sums
