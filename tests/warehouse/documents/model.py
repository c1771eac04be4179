"""The expected behaviour of documents of every kind: decisions, sections 1 to 3, in plain Python."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tests.support.moments import Moments
from tests.warehouse.sales_orders.model import CODES, CodeTaken, Refused, Taken, with_holder_of_code
from tests.warehouse.stock.model import WAREHOUSES, Json, Telling

PARTNERS = (1, 2, 4)

FieldErrors = list[tuple[str, str]]
"""The path and the code of each error."""


class Forbidden(str):
    """The error code for an order whose status forbids the request; `details` holds the status and the allowed
    moves.
    """

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
    """A document. A line has the fields of its record, but quantities are in millionths."""

    id: int
    fields: Json
    created_at: str
    updated_at: str
    lines: list[Json]
    status: str = "CREAT"
    history: list[Json] = field(default_factory=list)


class Book(ABC):
    """The documents of one kind. `goods` are the fields of a line that make it another line when they change."""

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
        """Apply the given fields to the document and move the document."""

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
        """Create a document and report its event. An id or a number of the series is never used twice."""
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
        """Return the fields after the change; the code stays if no code is given."""
        return {**document.fields, **given, "code": given.get("code") or document.fields["code"]}

    def differ(self, before: Sequence[Json], after: Sequence[Json]) -> bool:
        return self._goods(before) != self._goods(after)

    def _goods(self, lines: Sequence[Json]) -> list[list[object]]:
        return [[line[name] for name in self.goods] for line in lines]

    def changes_first(self, document: Document, status: str, changes: bool, changes_lines: bool) -> bool:
        """Return True if the request changes the document before its move. The side of the move that allows
        changes decides. Raise Refused (409) if neither side allows the change.
        """
        allowing = self.lines_change_in if changes_lines else self.fields_change_in
        is_move_allowed = status in (document.status, *self.moves[document.status])
        if not is_move_allowed or (changes and not {document.status, status} & set(allowing)):
            raise self.forbidden(document, status)
        return document.status in allowing

    def forbidden(self, document: Document, requested: str | None = None, refused: str | None = None) -> Refused:
        """Return the refusal of a move; `refused` is a status that a rule outside of the table forbids."""
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
        """Return the lines, each with an id. The id of a removed line is never used again."""
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
    """Return the id of each sent line: a line with the id of an existing line keeps that id, but only once."""
    ids, kept = {line["id"] for line in before}, list[int | None]()
    for line in sent:
        line_id = line.get("id") if line.get("id") in ids else None
        ids.discard(line_id)
        kept.append(line_id)
    return kept
