"""The expected behaviour of returns: decisions, sections 2 and 3, in plain Python that uses no code of wmsd."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.support.moments import Moments
from tests.warehouse.documents.model import Book, Document, FieldErrors, Forbidden, refuse
from tests.warehouse.sales_orders.shipping import SHIPPED, SalesOrders
from tests.warehouse.stock.goods import GOODS, Moved
from tests.warehouse.stock.model import MILLION, Json, Telling, millionths, shown

DISPOSITION_ONLY = {"id", "disposition"}


class Returns(Book):
    entity, series, lines = "return", "RT", "lines"
    fields = ("code", "partner_id", "warehouse_id", "sales_order_id", "reason", "external_ref", "notes")
    told = ("code", "partner_id", "warehouse_id")
    goods = ("article_id", "quantity", "lot_number", "serials")
    moves = {"CREAT": ["RECEPTIONAT", "ANULAT"], "RECEPTIONAT": ["FINALIZAT"]} | {
        status: list[str]() for status in ("FINALIZAT", "ANULAT")
    }
    lines_change_in = ("CREAT",)
    fields_change_in = ("CREAT", "RECEPTIONAT")

    def __init__(self, clock: Moments, orders: SalesOrders) -> None:
        super().__init__(clock)
        self.orders, self.stock = orders, orders.stock

    def shown_line(self, line: Json) -> Json:
        return {**line, "article_code": GOODS[line["article_id"]].code, "quantity": shown(line["quantity"])}

    def create(self, body: Json, telling: Telling) -> Document:
        fields: Json = {name: body.get(name) for name in self.fields}
        lines, errors = self._read(body["lines"], [])
        if body.get("status", "CREAT") != "CREAT":
            errors.append(("status", "VALIDATION_FAILED"))
        refuse([*errors, *self._unfit(None, fields, lines)])
        made = self.begin(fields, lines, telling)
        self._keep_who_came_back()
        return made

    def change(self, document: Document, given: Json, sent: list[Json] | None, status: str, to: Telling) -> None:
        fields, errors, lines = self.changed(document, given), FieldErrors(), document.lines
        if sent is not None:
            lines, errors = self._read(sent, document.lines)
        if not (changes_lines := self.differ(document.lines, lines)):
            pairs = zip(document.lines, lines, strict=True)
            lines = [{**line, "disposition": as_sent["disposition"]} for line, as_sent in pairs]
        changes = fields != document.fields or lines != document.lines or bool(errors)
        self.changes_first(document, status, changes, changes_lines)
        if changes:
            refuse([*errors, *self._unfit(document, fields, lines)])
        if status == "FINALIZAT" != document.status:
            self._check_finish(lines)
        if changes:
            self.update(document, fields, lines, to)
        self._move(document, status, to)
        self._keep_who_came_back()

    def _check_finish(self, lines: Sequence[Json]) -> None:
        for name in ("disposition", "serials"):
            refuse([(path, "VALIDATION_FAILED") for path in self._unfinished(lines) if name in path])

    def _unfinished(self, lines: Sequence[Json]) -> Iterator[str]:
        for number, line in enumerate(lines):
            if line["disposition"] is None:
                yield f"lines.{number}.disposition"
            comes_in = line["disposition"] != "DISTRUS"
            for position, serial in enumerate(line["serials"] or []):
                if comes_in and self.stock.serial(line["article_id"], serial):
                    yield f"lines.{number}.serials.{position}"

    def _move(self, document: Document, status: str, telling: Telling) -> None:
        if status == document.status:
            return
        if status == "FINALIZAT":
            for line in document.lines:
                for moved in _moved(document, line):
                    self.stock.post(moved)
        self.reach(document, status, telling)

    def _keep_who_came_back(self) -> None:
        self.orders.came_back = {each.fields["sales_order_id"] for each in self._standing()} - {None}

    def _standing(self) -> list[Document]:
        return [each for each in self.by_id.values() if each.status != "ANULAT"]

    def returned(self, order_id: int, but_not: Document | None = None) -> Counter[int]:
        """Return the returned quantities by article, over all returns of a sales order that are not cancelled."""
        bound = [each for each in self._standing() if each.fields["sales_order_id"] == order_id]
        return _sums(line for each in bound if each is not but_not for line in each.lines)

    def shipped(self, order_id: int) -> Counter[int]:
        return _sums(self.orders.by_id[order_id].lines)

    def _read(self, sent: Sequence[Json], before: Sequence[Json]) -> tuple[list[Json], FieldErrors]:
        """Return the lines, and the errors that the lines have in themselves."""
        known, errors = {line["id"]: line for line in before}, FieldErrors()
        if before and all(line.keys() == DISPOSITION_ONLY for line in sent):
            wanted = {line["id"]: line["disposition"] for line in sent}
            unknown = [number for number, line in enumerate(sent) if line["id"] not in known]
            lines = [{**line, "disposition": wanted.get(line["id"], line["disposition"])} for line in before]
            return lines, [(f"lines.{number}.id", "VALIDATION_FAILED") for number in unknown]
        lines = []
        for number, line in enumerate(sent):
            lines.append(_whole(line, known.pop(line.get("id"), None)))
            errors += _line_errors(f"lines.{number}", lines[-1])
        return lines, errors

    def _unfit(self, document: Document | None, fields: Json, lines: Sequence[Json]) -> Iterator[tuple[str, str]]:
        yield from self.names_wrong(document, fields)
        seen = set[tuple[int, str]]()
        for number, line in enumerate(lines):
            for position, serial in enumerate(line["serials"] or []):
                if (line["article_id"], serial) in seen:
                    yield f"lines.{number}.serials.{position}", "VALIDATION_FAILED"
                seen.add((line["article_id"], serial))
        if fields["sales_order_id"] is None:
            return
        order = self.orders.by_id.get(fields["sales_order_id"])
        if order is None:
            yield "sales_order_id", "VALIDATION_FAILED"
            return
        if order.status not in SHIPPED:
            yield "sales_order_id", Forbidden(order.status, self.orders.moves)
            return
        if order.fields["partner_id"] != fields["partner_id"]:
            yield "partner_id", "INVALID_PARTNER"
        for path in self._not_shipped(document, order, lines):
            yield path, "VALIDATION_FAILED"

    def _not_shipped(self, document: Document | None, order: Document, lines: Sequence[Json]) -> Iterator[str]:
        """Yield errors for goods that did not leave: too much of an article, a lot, or a serial."""
        left, sums = self.shipped(order.id), _sums(lines)
        left.subtract(self.returned(order.id, but_not=document))
        sent_out = self.orders.stock.sent_out(order.id)
        lots, serials = Counter[tuple[int, str]](), dict[tuple[int, str], str | None]()
        for _, (article, _), part in sent_out:
            if part.lot is not None:
                lots[article, part.lot] += part.quantity
            if part.serial is not None:
                serials[article, part.serial] = part.lot
        others = [each for each in self._standing() if each is not document]
        back = [line for each in others if each.fields["sales_order_id"] == order.id for line in each.lines]
        came_back = {(line["article_id"], serial) for line in back for serial in line["serials"] or []}
        of_lots = _lots([*back, *lines])
        for number, line in enumerate(lines):
            article = line["article_id"]
            if article in GOODS and sums[article] > left[article]:
                yield f"lines.{number}.quantity"
            lot = line["lot_number"]
            if lot is not None and (article, lot) not in lots:
                yield f"lines.{number}.lot_number"
            elif lot is not None and of_lots[article, lot] > lots[article, lot]:
                yield f"lines.{number}.quantity"
            for position, serial in enumerate(line["serials"] or []):
                unit = (article, serial)
                is_of_another = (article, lot) in lots and serials.get(unit) != lot
                if unit not in serials or unit in came_back or is_of_another:
                    yield f"lines.{number}.serials.{position}"


def _whole(sent: Json, kept: Json | None) -> Json:
    """Return the complete line: a field that was not sent stays unchanged."""
    stored = kept or {"id": None, "article_id": None, "quantity": None}
    stored = {"disposition": None, "lot_number": None, "serials": None, **stored}
    given = {name: value for name, value in sent.items() if name in stored and name != "id"}
    if "quantity" in given:
        given["quantity"] = millionths(given["quantity"])
    if "serials" in given:
        given["serials"] = given["serials"] or None
    return {**stored, **given}


def _line_errors(path: str, line: Json) -> FieldErrors:
    if line["article_id"] not in GOODS:
        return [(f"{path}.article_id", "INVALID_ARTICLE")]
    quantity, serials = line["quantity"], line["serials"]
    tracks_serials = GOODS[line["article_id"]].tracks_serials
    if quantity is None or (tracks_serials and quantity % MILLION):
        return [(f"{path}.quantity", "VALIDATION_FAILED")]
    if serials and (not tracks_serials or len(serials) * MILLION != quantity):
        return [(f"{path}.serials", "VALIDATION_FAILED")]
    return []


def _moved(document: Document, line: Json) -> Iterator[Moved]:
    """Yield the movements of a line. Its disposition decides: into stock, into quarantine, or written off."""
    for serial in line["serials"] or [None]:
        amount = MILLION if serial else line["quantity"]
        enters = 0 if line["disposition"] == "DISTRUS" else amount
        quarantined = amount if line["disposition"] == "CARANTINA" else 0
        yield Moved(
            "return",
            line["article_id"],
            document.fields["warehouse_id"],
            enters,
            quarantined,
            amount - enters,
            line["lot_number"],
            serial,
            document.id,
            line["id"],
            line["disposition"],
        )


def _sums(lines: Iterator[Json] | Sequence[Json]) -> Counter[int]:
    sums: Counter[int] = Counter()
    for line in lines:
        sums[line["article_id"]] += line["quantity"] or 0
    return sums


def _lots(lines: Sequence[Json]) -> Counter[tuple[int, str]]:
    sums: Counter[tuple[int, str]] = Counter()
    for line in lines:
        if line["lot_number"] is not None:
            sums[line["article_id"], line["lot_number"]] += line["quantity"] or 0
    return sums
