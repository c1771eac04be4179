"""Documents in files: a row for each line, the rows of one document together.

A document is known by its code or, where the file has none, by its external_ref.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from wmsd.base.fields import Code, Input, OptionalLabel
from wmsd.base.importing import FirstSeen, Outcome, Row
from wmsd.base.moves import Moves
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.results import Record
from wmsd.base.validation import field_errors
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import DirectoryKind
from wmsd.documents.table import DocumentTable

FieldsT = TypeVar("FieldsT", bound="DocumentRow")


class DocumentRow(Input):
    """The document's own fields, the same in each of its rows, and those of one line."""

    code: Code | None = None
    external_ref: OptionalLabel = None
    status: Any = None


@dataclass(frozen=True, slots=True)
class Checked(Generic[FieldsT]):
    """A row that could be read: where it stands, which columns it has, what is in them."""

    line: int
    sent: frozenset[str]
    fields: FieldsT


Referred = DirectoryKind | DocumentTable


class Codes:
    """The ids of what columns refer to by code."""

    def __init__(self, tx: Transaction, references: Mapping[str, Referred]) -> None:
        self._tx = tx
        self._documents = {name: kind for name, kind in references.items() if isinstance(kind, DocumentTable)}
        self._directory = {
            name: directory.ids_by_code(tx, kind)
            for name, kind in references.items()
            if isinstance(kind, DirectoryKind)
        }

    def find(self, column: str, code: str | None) -> int | None:
        """None for no code, and for one that nothing has."""
        if code is None:
            return None
        if column in self._documents:
            return self._documents[column].id_of_code(self._tx, code)
        return self._directory[column].get(code)


@dataclass(frozen=True)
class DocumentFile(Generic[FieldsT]):
    """What a kind of document looks like in a file.

    `references`: the columns with codes. `columns`: where a field of the document, or after its `lines` one of a
    line, stands under another name.
    """

    table: DocumentTable
    moves: Moves[Any, Any]
    model: type[FieldsT]
    of_a_line: tuple[str, ...]
    required: tuple[str, ...]
    references: Mapping[str, Referred]
    lines: str
    most_lines: int
    columns: Mapping[str, str]
    walked_last: bool = False
    """Whether all documents of the file are there before the first is moved: what one does may close the others.
    """
    comes_about: frozenset[str] = frozenset()
    """Statuses that other documents bring about: one that cannot be moved there by hand waits for them."""

    def take(
        self,
        tx: Transaction,
        rows: Iterable[Row],
        outcome: Outcome,
        create: Callable[[list[Checked[FieldsT]], Codes], Record],
        change: Callable[[int, list[Checked[FieldsT]], Codes], object],
        move: Callable[[int, Any], object],
    ) -> None:
        """Documents that are not known are created, the others changed; then each is walked to its status."""
        codes = Codes(tx, self.references)

        def lay_down(document: list[Checked[FieldsT]]) -> tuple[int, Record | None]:
            """Its id, and what it was before."""
            document_id = self._known(tx, document[0].fields)
            if document_id is None:
                return create(document, codes).id, None
            before = self.table.one(tx, document_id)
            change(document_id, document, codes)
            return document_id, before

        def walk(document: list[Checked[FieldsT]], document_id: int, before: Record | None) -> None:
            self._walk(tx, document_id, document[0].fields.status, move)
            is_same = self.table.one(tx, document_id) == before
            outcome.created += before is None
            outcome.unchanged += is_same
            outcome.updated += before is not None and not is_same

        later: list[Callable[[], None]] = []
        for document in self.documents(rows, codes, outcome):
            try:
                walking = partial(walk, document, *lay_down(document))
                if self.walked_last:
                    later.append(partial(self._or_refuse, walking, document, outcome))
                else:
                    walking()
            except Problem as problem:
                self.refuse(problem, document, outcome)
        for each in later:
            each()

    def _or_refuse(self, walking: Callable[[], None], document: list[Checked[FieldsT]], outcome: Outcome) -> None:
        try:
            walking()
        except Problem as problem:
            self.refuse(problem, document, outcome)

    def _known(self, tx: Transaction, row: DocumentRow) -> int | None:
        if row.code is not None:
            return self.table.id_of_code(tx, row.code)
        assert row.external_ref is not None
        return self.table.id_of_external_ref(tx, row.external_ref)

    def _walk(
        self, tx: Transaction, document_id: int, wanted: str | None, move: Callable[[int, Any], object]
    ) -> None:
        """By the moves that lead to the status, with all that they do."""
        current = self.table.columns(tx, document_id)["status"]
        try:
            route = self.moves.route(current, wanted or current)
        except Problem:
            if wanted in self.comes_about:
                return
            raise
        for status in route:
            move(document_id, status)

    def documents(self, rows: Iterable[Row], codes: Codes, outcome: Outcome) -> Iterator[list[Checked[FieldsT]]]:
        """The rows of each document that could be read; what is wrong with the others is told to the outcome."""
        seen = FirstSeen()
        for key, group in groupby(rows, key=_key):
            of_one = list(group)
            checked = [found for row in of_one if (found := self._checked(row, codes, outcome)) is not None]
            before = seen.line_before(key, of_one[0].line)
            if before is not None:
                outcome.refuse(of_one[0].line, {"code": [f"is apart from its rows that begin at row {before}"]})
            elif len(of_one) > self.most_lines:
                sentence = f"has over {self.most_lines} {self.lines} with this row"
                outcome.refuse(of_one[self.most_lines].line, {"code": [sentence]})
            elif len(checked) == len(of_one) and self._agree(checked, outcome):
                yield checked

    def refuse(self, problem: Problem, rows: list[Checked[FieldsT]], outcome: Outcome) -> None:
        """Tells the errors of a document at the row and column of the file that they are about."""
        if not problem.errors:
            outcome.refuse(rows[0].line, {"status": [problem.message.rstrip(".")]})
        for path, sentences in problem.errors.items():
            name, _, rest = path.partition(".")
            line = rows[0].line
            if name == self.lines and rest:
                number, _, field = rest.partition(".")
                name, line = f"{self.lines}.{field}", rows[int(number)].line
            column = self.columns.get(name, name.removeprefix(f"{self.lines}."))
            outcome.refuse(line, {column: sentences})

    def _checked(self, row: Row, codes: Codes, outcome: Outcome) -> Checked[FieldsT] | None:
        errors: FieldErrors = {}
        fields: FieldsT | None = None
        try:
            fields = self.model.model_validate(row.values)
        except ValidationError as error:
            errors = field_errors(error)
        if _key(row) == ("external_ref", None):
            errors.setdefault("code", ["is required, or external_ref"])
        for column, kind in self.references.items():
            code = row.values.get(column)
            if isinstance(code, str) and column not in errors and codes.find(column, code) is None:
                errors[column] = [f"is not a {kind.noun} of this company"]
        if errors or fields is None:
            outcome.refuse(row.line, errors)
            return None
        return Checked(row.line, frozenset(row.values), fields)

    def _agree(self, rows: list[Checked[FieldsT]], outcome: Outcome) -> bool:
        """Whether the document's own fields are the same in all its rows."""
        first, agree = rows[0], True
        for each in rows[1:]:
            for name in self.model.model_fields:
                if name not in self.of_a_line and getattr(each.fields, name) != getattr(first.fields, name):
                    outcome.refuse(
                        each.line, {name: [f"differs from row {first.line}, which begins this {self.table.noun}"]}
                    )
                    agree = False
        return agree


def _key(row: Row) -> tuple[str, object]:
    """What the document is known by."""
    code = row.values.get("code")
    return ("code", code) if code is not None else ("external_ref", row.values.get("external_ref"))
