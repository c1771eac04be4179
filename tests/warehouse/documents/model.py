"""What documents of every kind have in common, as it ought to be: decisions, sections 1 to 3, in plain Python."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tests.support.moments import Moments
from tests.warehouse.sales_orders.model import CODES, CodeTaken, Refused, Taken, with_holder_of_code
from tests.warehouse.stock.model import WAREHOUSES, Json, Telling

PARTNERS = (1, 2, 4)

FieldErrors = list[tuple[str, str]]
"""The path and the code of each thing that is wrong."""


class Forbidden(str):
    """The code of an order whose status forbids what is asked; `details` has its status and where it can go."""

    details: Json

    def __new__(cls, status: str, moves: Mapping[str, list[str]]) -> "Forbidden":
        self = super().__new__(cls, "INVALID_STATUS")
        self.details = {"current": status, "requested": None, "allowed": moves[status]}
        return self


def refuse(errors: FieldErrors) -> None:
    if errors:
        code = next(each for code in CODES for _, each in errors if each == code)
        details = {"id": code.holder} if isinstance(code, Taken) else getattr(code, "details", None)
        status = 409 if code == "INVALID_STATUS" else 422
        details = with_holder_of_code(details, (code for _, code in errors))
        raise Refused(status, code, {path for path, _ in errors}, details)


@dataclass
class Document:
    """A line is what its record shows, but for quantities, which are in millionths."""

    id: int
    fields: Json
    created_at: str
    updated_at: str
    lines: list[Json]
    status: str = "CREAT"
    history: list[Json] = field(default_factory=list)


class Book(ABC):
    """The documents of one kind. `goods` is what of a line makes it another line."""

    entity: ClassVar[str]
    series: ClassVar[str]
    lines: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    told: ClassVar[tuple[str, ...]]
    goods: ClassVar[tuple[str, ...]]
    moves: ClassVar[Mapping[str, list[str]]]
    lines_change_in: ClassVar[tuple[str, ...]]
    fields_change_in: ClassVar[tuple[str, ...]]

    def __init__(self, clock: Moments) -> None:
        self.clock = clock
        self.by_id: dict[int, Document] = {}
        self.last_id = self.last_line = self.last_number = 0

    @abstractmethod
    def shown_line(self, line: Json) -> Json: ...

    @abstractmethod
    def create(self, body: Json, telling: Telling) -> Document: ...

    @abstractmethod
    def change(self, document: Document, given: Json, sent: list[Json] | None, status: str, to: Telling) -> None:
        """Lays what was given over the document and moves it."""

    def delete(self, document: Document) -> None:
        raise AssertionError(f"{self.entity} is not deleted")

    def record(self, document: Document) -> Json:
        return {
            "id": document.id,
            "status": document.status,
            **document.fields,
            self.lines: [self.shown_line(line) for line in document.lines],
            "status_history": list(document.history),
            "created_at": document.created_at,
            "updated_at": document.updated_at,
        }

    def begin(self, fields: Json, lines: Sequence[Json], telling: Telling) -> Document:
        """A new document that is told of; an id is never given again, nor is a number of the series."""
        self.last_id += 1
        fields = {**fields, "code": fields["code"] or self._next_code()}
        now = self.clock.now
        by_clock = self.clock.by_clock
        document = self.by_id[self.last_id] = Document(self.last_id, fields, by_clock, now, self.numbered(lines))
        document.history.append({"status": document.status, "at": by_clock})
        telling.tell(f"{self.entity}.created", self.record(document))
        return document

    def update(self, document: Document, fields: Json, lines: Sequence[Json], telling: Telling) -> None:
        document.fields, document.lines = fields, self.numbered(lines)
        document.updated_at = self.clock.now
        telling.tell(f"{self.entity}.updated", self.record(document))

    def reach(self, document: Document, status: str, telling: Telling) -> None:
        before, document.status, document.updated_at = document.status, status, self.clock.now
        document.history.append({"status": status, "at": self.clock.by_clock})
        telling.tell(f"{self.entity}.status_changed", {**self.told_of(document), "previous_status": before})

    def told_of(self, document: Document) -> Json:
        named = {name: document.fields[name] for name in self.told}
        return {"id": document.id, **named, "status": document.status}

    def changed(self, document: Document, given: Json) -> Json:
        """The fields with what was given laid over them; a code that is not given stays."""
        return {**document.fields, **given, "code": given.get("code") or document.fields["code"]}

    def differ(self, before: Sequence[Json], after: Sequence[Json]) -> bool:
        return self._goods(before) != self._goods(after)

    def _goods(self, lines: Sequence[Json]) -> list[list[object]]:
        return [[line[name] for name in self.goods] for line in lines]

    def changes_first(self, document: Document, status: str, changes: bool, changes_lines: bool) -> bool:
        """Whether a request changes before it moves: it does on the side that allows it. Raises Refused (409)."""
        allowing = self.lines_change_in if changes_lines else self.fields_change_in
        is_move_allowed = status in (document.status, *self.moves[document.status])
        if not is_move_allowed or (changes and not {document.status, status} & set(allowing)):
            raise self.forbidden(document, status)
        return document.status in allowing

    def forbidden(self, document: Document, requested: str | None = None, refused: str | None = None) -> Refused:
        """`refused` is a status that something else than the table forbids."""
        requested = None if requested == document.status else requested
        allowed = [status for status in self.moves[document.status] if status not in (requested, refused)]
        details = {"current": document.status, "requested": requested, "allowed": allowed}
        return Refused(409, "INVALID_STATUS", details=details)

    def names_wrong(self, document: Document | None, fields: Json) -> FieldErrors:
        errors: FieldErrors = []
        for name, known, code in (
            ("partner_id", PARTNERS, "INVALID_PARTNER"),
            ("warehouse_id", WAREHOUSES, "INVALID_WAREHOUSE"),
        ):
            if name in fields and fields[name] not in known:
                errors.append((name, code))
        for other in self.by_id.values():
            if other is not document and fields["code"] is not None and fields["code"] == other.fields["code"]:
                errors.append(("code", CodeTaken(other.id)))
            reference = fields["external_ref"]
            if other is not document and reference is not None and reference == other.fields["external_ref"]:
                errors.append(("external_ref", Taken(other.id)))
        return errors

    def numbered(self, lines: Iterable[Json]) -> list[Json]:
        """Each with an id; that of a line that was taken away is never given again."""
        numbered = []
        for line in lines:
            if line["id"] is None:
                self.last_line += 1
            numbered.append(line if line["id"] else {**line, "id": self.last_line})
        return numbered

    def _next_code(self) -> str:
        taken = {document.fields["code"] for document in self.by_id.values()}
        while True:
            self.last_number += 1
            if (code := f"{self.series}-{self.last_number:06d}") not in taken:
                return code


def kept_ids(sent: Sequence[Json], before: Sequence[Json]) -> list[int | None]:
    """A line that is sent with the id of one that is there keeps it, once."""
    ids, kept = {line["id"] for line in before}, list[int | None]()
    for line in sent:
        line_id = line.get("id") if line.get("id") in ids else None
        ids.discard(line_id)
        kept.append(line_id)
    return kept
