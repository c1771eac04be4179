"""The expected behaviour of sales orders: decisions, sections 1, 2, 3 and 6, in plain Python that uses no code of
wmsd.

The model does not store what an order reserves: the order's lines tell it, while the status of the order reserves
stock.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.moments import Moments
from tests.warehouse.stock.model import (
    ARTICLES,
    WAREHOUSES,
    Held,
    Json,
    Movement,
    Place,
    Stock,
    Telling,
    millionths,
    shown,
)

PARTNERS = (1, 2)
CLIENTS = (1,)
TRANSITIONS: Mapping[str, list[str]] = {
    "CREAT": ["IN_LUCRU", "ANULAT"],
    "IN_LUCRU": ["CREAT", "INCARCAT", "ANULAT"],
    "INCARCAT": ["IN_LUCRU", "LIVRAT"],
    "LIVRAT": [],
    "ANULAT": [],
}
POSTS = {("IN_LUCRU", "INCARCAT"): ("loading", -1), ("INCARCAT", "IN_LUCRU"): ("unloading", 1)}
HOLDS_STOCK = ("CREAT", "IN_LUCRU")
LINES_MAY_CHANGE = ("CREAT",)
FIELDS_MAY_CHANGE = ("CREAT", "IN_LUCRU", "INCARCAT")
OWN_MAY_CHANGE = {"ship_to": ("CREAT",), "tracking_number": (*FIELDS_MAY_CHANGE, "LIVRAT")}
FIELDS = (
    *("code", "partner_id", "warehouse_id", "client_id", "external_ref", "notes", "requested_date"),
    *("customer_reference", "ship_to", "carrier", "tracking_number"),
)
SHIP_TO = ("name", "street", "city", "postal_code", "country", "phone")
CODES = (
    "EXTERNAL_REF_TAKEN",
    "INVALID_STATUS",
    "INVALID_PARTNER",
    "INVALID_WAREHOUSE",
    "INVALID_ARTICLE",
    "VALIDATION_FAILED",
    "INSUFFICIENT_STOCK",
)
"""The error codes by priority: a reply has one code, the first of these that applies."""

FieldErrors = dict[str, str]
"""The error code of each wrong path."""


class Refused(Exception):
    def __init__(self, status: int, code: str, errors: Collection[str] = (), details: Json | None = None) -> None:
        super().__init__(code)
        self.status, self.code, self.errors, self.details = status, code, frozenset(errors), details


class Taken(str):
    """The error code for an external_ref that another document has; `holder` is the id of that document."""

    holder: int

    def __new__(cls, holder: int) -> "Taken":
        self = super().__new__(cls, "EXTERNAL_REF_TAKEN")
        self.holder = holder
        return self


class CodeTaken(str):
    """The error code for a document's own code that another document has; `holder` is the id of that document."""

    holder: int

    def __new__(cls, holder: int) -> "CodeTaken":
        self = super().__new__(cls, "VALIDATION_FAILED")
        self.holder = holder
        return self


def with_holder_of_code(details: Json | None, codes: Iterable[str]) -> Json | None:
    holder = next((each.holder for each in codes if isinstance(each, CodeTaken)), None)
    return details if holder is None else {**(details or {}), "code_taken_by": holder}


class Line(NamedTuple):
    id: int | None
    article: int | None
    """The article's id, or None if the request names no known article."""
    quantity: int
    warehouse: int


@dataclass
class Order:
    id: int
    fields: Json
    created_at: str
    updated_at: str
    lines: list[Line] = field(default_factory=list)
    status: str = ""
    history: list[Json] = field(default_factory=list)

    def record(self) -> Json:
        return {
            "id": self.id,
            "code": self.fields["code"],
            "status": self.status,
            **self.fields,
            "lines": [
                {
                    "id": line.id,
                    "article_id": line.article,
                    "article_code": ARTICLES[line.article or 0],
                    "quantity": shown(line.quantity),
                    "warehouse_id": line.warehouse,
                    "lot_number": None,
                    "serials": None,
                }
                for line in self.lines
            ],
            "status_history": list(self.history),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }

    def takes(self) -> Held:
        return [(place, quantity) for place, quantity in taken(self.lines) if place]

    def reach(self, status: str, clock: Moments) -> None:
        self.status, self.updated_at = status, clock.now
        self.history.append({"status": status, "at": clock.by_clock})


def whole(fields: Json) -> Json:
    """Return the fields with all parts of the address; a part that was not sent is None."""
    if fields["ship_to"] is None:
        return fields
    return {**fields, "ship_to": {part: fields["ship_to"].get(part) for part in SHIP_TO}}


def taken(lines: Sequence[Line]) -> list[tuple[Place | None, int]]:
    """Return the place and the quantity of each line; the place is None if article or warehouse is unknown."""
    return [(_place(line.article, line.warehouse), line.quantity) for line in lines]


def _place(article: int | None, warehouse: int) -> Place | None:
    return (article, warehouse) if article in ARTICLES and warehouse in WAREHOUSES else None


class Orders:
    def __init__(self) -> None:
        self.clock = Moments()
        self.by_id: dict[int, Order] = {}
        self.stock = Stock(self._held)
        self.last_line = 0
        self.last_number = 0

    def _held(self) -> Held:
        return [each for order in self.by_id.values() if order.status in HOLDS_STOCK for each in order.takes()]

    def create(self, body: Json, telling: Telling) -> Order:
        fields = whole({name: body.get(name) for name in FIELDS})
        lines, errors = self._read(body["lines"], [], fields["warehouse_id"])
        refuse(errors | self._errors(None, fields) | self._shortages(None, lines))
        fields["code"] = fields["code"] or self._next_code()
        order_id, clock = len(self.by_id) + 1, self.clock
        order = self.by_id[order_id] = Order(order_id, fields, clock.by_clock, clock.now)
        order.lines = self._numbered(lines)
        order.reach("CREAT", clock)
        telling.tell("sales_order.created", order.record())
        return order

    def change(self, order: Order, given: Json, sent: list[Json] | None, status: str, telling: Telling) -> None:
        """Apply the given fields to the order and move it. The fields change on the side of the move that allows
        changes.
        """
        fields = whole({**order.fields, **given, "code": given.get("code") or order.fields["code"]})
        lines, errors = (
            (order.lines, {}) if sent is None else self._read(sent, order.lines, fields["warehouse_id"])
        )
        changes_lines = taken(lines) != taken(order.lines)
        changes = changes_lines or fields != order.fields
        differing = [name for name in FIELDS if fields[name] != order.fields[name]]
        allowing = set(LINES_MAY_CHANGE if changes_lines else TRANSITIONS)
        allowing = allowing.intersection(*(OWN_MAY_CHANGE.get(name, FIELDS_MAY_CHANGE) for name in differing))
        is_move_allowed = status in (order.status, *TRANSITIONS[order.status])
        if not is_move_allowed or (changes and not {order.status, status} & allowing):
            raise forbidden(order, status)
        if changes:
            shortages = self._shortages(order, lines) if changes_lines else {}
            refuse(errors | self._errors(order, fields) | shortages)
        changes_first = order.status in allowing
        if not changes_first:
            self._move(order, status, telling)
        if changes:
            if changes_lines:
                order.lines = self._numbered(lines)
            order.fields, order.updated_at = fields, self.clock.now
            telling.tell("sales_order.updated", order.record())
        if changes_first:
            self._move(order, status, telling)

    def _move(self, order: Order, status: str, telling: Telling) -> None:
        before = order.status
        if status == before:
            return
        if (before, status) in POSTS:
            kind, sign = POSTS[(before, status)]
            for line, (place, quantity) in zip(order.lines, order.takes(), strict=True):
                self.stock.ledger.append(Movement(kind, place, sign * quantity, order.id, line.id))
        order.reach(status, self.clock)
        named = {name: order.fields[name] for name in ("code", "partner_id", "warehouse_id")}
        data = {"id": order.id, **named, "status": status, "previous_status": before}
        telling.tell("sales_order.status_changed", data)

    def _errors(self, order: Order | None, fields: Json) -> FieldErrors:
        errors = {}
        if fields["partner_id"] not in PARTNERS:
            errors["partner_id"] = "INVALID_PARTNER"
        if fields["warehouse_id"] not in WAREHOUSES:
            errors["warehouse_id"] = "INVALID_WAREHOUSE"
        if fields["client_id"] not in (None, *CLIENTS):
            errors["client_id"] = "VALIDATION_FAILED"
        for other in self.by_id.values():
            if other is not order and fields["code"] is not None and fields["code"] == other.fields["code"]:
                errors["code"] = CodeTaken(other.id)
            if (
                other is not order
                and fields["external_ref"]
                and fields["external_ref"] == other.fields["external_ref"]
            ):
                errors["external_ref"] = Taken(other.id)
        return errors

    def _shortages(self, order: Order | None, lines: Sequence[Line]) -> FieldErrors:
        """Return the shortages. Goods that the order reserves already count as free; lines of one place are
        summed.
        """
        free = {place: balance.available for place, balance in self.stock.balances().items()}
        for held, quantity in order.takes() if order else []:
            free[held] += quantity
        for place, quantity in taken(lines):
            if place:
                free[place] = free.get(place, 0) - quantity
        return {
            f"lines.{number}.quantity": "INSUFFICIENT_STOCK"
            for number, (place, _) in enumerate(taken(lines))
            if place and free[place] < 0
        }

    def _read(
        self, sent: Sequence[Json], before: Sequence[Line], warehouse: int
    ) -> tuple[list[Line], FieldErrors]:
        """Return the lines and their errors. A line with the id of an existing line keeps its id. `warehouse` is
        used for lines that name no warehouse.
        """
        lines, errors, ids = list[Line](), FieldErrors(), {line.id for line in before}
        for number, each in enumerate(sent):
            article, named = article_of(each)
            if article is None:
                errors[f"lines.{number}.{named}"] = "INVALID_ARTICLE"
            if each.get("warehouse_id") not in (None, *WAREHOUSES):
                errors[f"lines.{number}.warehouse_id"] = "INVALID_WAREHOUSE"
            line_id = each.get("id") if each.get("id") in ids else None
            ids.discard(line_id)
            lines.append(Line(line_id, article, millionths(each["quantity"]), each.get("warehouse_id", warehouse)))
        return lines, errors

    def _numbered(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines, each with an id. The id of a replaced line is never used again."""
        numbered = []
        for line in lines:
            if line.id is None:
                self.last_line += 1
            numbered.append(line if line.id else line._replace(id=self.last_line))
        return numbered

    def _next_code(self) -> str:
        """Return the next code of the series. A refused request leaves no gap; codes given by hand are skipped."""
        taken_codes = {order.fields["code"] for order in self.by_id.values()}
        while True:
            self.last_number += 1
            if (code := f"SO-{self.last_number:06d}") not in taken_codes:
                return code


def article_of(line: Json) -> tuple[int | None, str]:
    """Return the article's id, or None, and the field to report if the article is unknown."""
    article, code = line.get("article_id"), line.get("article_code")
    if article is None:
        return next((known for known in ARTICLES if ARTICLES[known] == code), None), "article_code"
    if article not in ARTICLES:
        return None, "article_id"
    return (article if code in (None, ARTICLES[article]) else None), "article_code"


def refuse(errors: FieldErrors) -> None:
    if errors:
        code = next(each for code in CODES for each in errors.values() if each == code)
        details = {"id": code.holder} if isinstance(code, Taken) else None
        raise Refused(422, code, errors, with_holder_of_code(details, errors.values()))


def forbidden(order: Order, status: str) -> Refused:
    requested = None if status == order.status else status
    allowed = [each for each in TRANSITIONS[order.status] if each != requested]
    details = {"current": order.status, "requested": requested, "allowed": allowed}
    return Refused(409, "INVALID_STATUS", details=details)
