"""The expected behaviour of sales orders with lots and serials; `model.py` has all other rules of sales orders."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.support.moments import Moments
from tests.warehouse.documents.model import Book, Document, FieldErrors, kept_ids, refuse
from tests.warehouse.sales_orders.model import FIELDS, FIELDS_MAY_CHANGE, HOLDS_STOCK, TRANSITIONS, Refused
from tests.warehouse.stock.goods import GOODS, Demand, Goods, Moved, Part
from tests.warehouse.stock.model import MILLION, Json, Place, Telling, millionths, shown

SHIPPED = ("INCARCAT", "LIVRAT")


class SalesOrders(Book):
    entity, series, lines, moves = "sales_order", "SO", "lines", TRANSITIONS
    fields = FIELDS
    told = ("code", "partner_id", "warehouse_id")
    goods = ("article_id", "warehouse_id", "quantity", "lot_number", "serials")
    lines_change_in = ("CREAT",)
    fields_change_in = FIELDS_MAY_CHANGE

    def __init__(self, clock: Moments) -> None:
        super().__init__(clock)
        self.stock = Goods(self.wanted)
        self.came_back: set[int] = set()
        """The ids of the orders with a return that is not cancelled."""

    def shown_line(self, line: Json) -> Json:
        return {**line, "article_code": GOODS[line["article_id"]].code, "quantity": shown(line["quantity"])}

    def wanted(self) -> Iterator[Demand]:
        for order in self.by_id.values():
            if order.status in HOLDS_STOCK:
                yield from map(wanted, order.lines)

    def create(self, body: Json, telling: Telling) -> Document:
        fields: Json = {name: body.get(name) for name in self.fields}
        lines = self._read(body["lines"], [], fields["warehouse_id"])
        errors: FieldErrors = [] if body.get("status", "CREAT") == "CREAT" else [("status", "VALIDATION_FAILED")]
        refuse([*errors, *self.names_wrong(None, fields), *self._unfit(lines), *self._missing(None, lines)])
        return self.begin(fields, lines, telling)

    def change(self, document: Document, given: Json, sent: list[Json] | None, status: str, to: Telling) -> None:
        fields = self.changed(document, given)
        lines = document.lines if sent is None else self._read(sent, document.lines, fields["warehouse_id"])
        changes_lines = self.differ(document.lines, lines)
        changes = changes_lines or fields != document.fields
        changes_first = self.changes_first(document, status, changes, changes_lines)
        if changes:
            missing = self._missing(document, lines) if changes_lines else []
            refuse([*self.names_wrong(document, fields), *self._unfit(lines), *missing])
        if not changes_first:
            self._move(document, status, to)
        if changes:
            self.update(document, fields, lines if changes_lines else document.lines, to)
        if changes_first:
            self._move(document, status, to)

    def _move(self, order: Document, status: str, telling: Telling) -> None:
        before = order.status
        if status == before:
            return
        if (before, status) == ("IN_LUCRU", "INCARCAT"):
            self._load(order)
        elif (before, status) == ("INCARCAT", "IN_LUCRU"):
            self._unload(order)
        self.reach(order, status, telling)

    def _load(self, order: Document) -> None:
        """Load the order, named lots and serials first. Otherwise, another line could take them as the oldest."""
        order.status = "its reservation is consumed"
        named_first = sorted(order.lines, key=lambda line: (line["serials"] is None, line["lot_number"] is None))
        for line in named_first:
            for part in list(self._parts(wanted(line))):
                self._post("loading", order, line["id"], wanted(line).place, part, -1)
        order.status = "IN_LUCRU"

    def _parts(self, line: Demand) -> Iterator[Part]:
        if line.serials is None:
            yield from self.stock.oldest(line.place, line.quantity, line.lot)
            return
        for name in line.serials:
            yield Part(MILLION, self.stock.serials[line.place[0], name].lot, name)

    def _unload(self, order: Document) -> None:
        """Return the loaded goods to stock exactly. Raise Refused if a serial is in stock already or goods were
        returned.
        """
        if order.id in self.came_back:
            raise self.forbidden(order, "IN_LUCRU")
        loaded = self.stock.sent_out(order.id)
        if any(part.serial and self.stock.serial(place[0], part.serial) for _, place, part in loaded):
            raise Refused(422, "VALIDATION_FAILED", ["status"])
        for line_id, place, part in loaded:
            self._post("unloading", order, line_id, place, part, 1)

    def _post(self, kind: str, order: Document, line_id: int, place: Place, part: Part, sign: int) -> None:
        moved = Moved(kind, *place, sign * part.quantity, 0, 0, part.lot, part.serial, order.id, line_id)
        self.stock.post(moved)

    def _read(self, sent: Sequence[Json], before: Sequence[Json], warehouse: int) -> list[Json]:
        return [
            {
                "id": line_id,
                "article_id": line["article_id"],
                "quantity": millionths(line["quantity"]),
                "warehouse_id": line.get("warehouse_id") or warehouse,
                "lot_number": line.get("lot_number"),
                "serials": line.get("serials"),
            }
            for line, line_id in zip(sent, kept_ids(sent, before), strict=True)
        ]

    def _unfit(self, lines: Sequence[Json]) -> Iterator[tuple[str, str]]:
        """Yield the errors of the lines themselves, independent of the stock."""
        for number, line in enumerate(lines):
            quantity, serials = line["quantity"], line["serials"]
            if GOODS[line["article_id"]].tracks_serials and quantity % MILLION:
                yield f"lines.{number}.quantity", "VALIDATION_FAILED"
            if serials is not None and (len(serials) * MILLION != quantity or len({*serials}) < len(serials)):
                yield f"lines.{number}.serials", "VALIDATION_FAILED"

    def _missing(self, order: Document | None, lines: Sequence[Json]) -> Iterator[tuple[str, str]]:
        """Yield errors for goods that are not in stock or that another order reserves. Goods of the order itself
        are free.
        """
        yield from self._short(order, lines)
        own = [wanted(line) for line in order.lines] if order else []
        held = {(each.place[0], name) for each in self.wanted() for name in each.serials or []}
        held -= {(each.place[0], name) for each in own for name in each.serials or []}
        taken, of_lots = set[tuple[int, str]](), Counter[tuple[Place, str]]()
        naming: list[tuple[int, Place, str]] = []
        for number, line in enumerate(map(wanted, lines)):
            if line.place not in self.stock.shelves:
                continue
            fitting = []
            for position, name in enumerate(line.serials or []):
                path, key = f"lines.{number}.serials.{position}", (line.place[0], name)
                found = self.stock.serial(*key)
                if found is None or found.place != line.place or found.is_quarantined or key in held:
                    yield path, "INSUFFICIENT_STOCK"
                elif line.lot not in (None, found.lot) or key in taken:
                    yield path, "VALIDATION_FAILED"
                else:
                    taken.add(key)
                    fitting.append(name)
            line = line._replace(serials=None if line.serials is None else fitting)
            for lot, quantity in self.stock.named(line).items():
                of_lots[line.place, lot] += quantity
                naming.append((number, line.place, lot))
        for number, place, lot in naming:
            held_by_it = sum(self.stock.named(each)[lot] for each in own if each.place == place)
            if of_lots[place, lot] > self.stock.free_of_lot(place, lot) + held_by_it:
                yield f"lines.{number}.quantity", "INSUFFICIENT_STOCK"

    def _short(self, order: Document | None, lines: Sequence[Json]) -> Iterator[tuple[str, str]]:
        """Yield an error for each line that exceeds the available stock; lines of one article and warehouse are
        summed.
        """
        free = Counter({place: balance.available for place, balance in self.stock.balances().items()})
        for line in map(wanted, order.lines if order else []):
            free[line.place] += line.quantity
        for line in map(wanted, lines):
            free[line.place] -= line.quantity
        for number, line in enumerate(map(wanted, lines)):
            if free[line.place] < 0:
                yield f"lines.{number}.quantity", "INSUFFICIENT_STOCK"


def wanted(line: Json) -> Demand:
    place = (line["article_id"], line["warehouse_id"])
    return Demand(place, line["quantity"], line["lot_number"], line["serials"])
