"""Documents in files: a row for each line, the rows of one document together.

A document is known by its code or, where the file has none, by its external_ref. Its rows are read and checked
before others wait; what may forbid a document is found by the action that writes it, as that of a single one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from wmsd.base.fields import Code, Input, OptionalLabel
from wmsd.base.importing import FirstSeen, Import, Outcome, Progress, Row
from wmsd.base.moves import Moves
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.results import Record
from wmsd.base.validation import field_errors
from wmsd.db.staged_rows import Pile, put_down, put_down_before
from wmsd.db.transaction import Transaction
from wmsd.documents.codes import Codes, Referred
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


class Document(NamedTuple):
    """What the rows of a document say. `rows` is where they stand; `fields` are its own, with ids for codes."""

    code: str | None
    external_ref: str | None
    status: Any
    rows: list[int]
    fields: dict[str, Any]
    lines: list[Any]


def always(_: Document) -> bool:
    return True


@dataclass(frozen=True)
class DocumentFile(Generic[FieldsT]):
    """What a kind of document looks like in a file, and the actions that write it.

    `references`: the columns with codes. `columns`: where a field of the document, or after its `lines` one of a
    line, stands under another name. `fields_of` and `line_of`: what of a row `create` and `change` take.
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
    fields_of: Callable[[Checked[FieldsT], Codes], dict[str, Any]]
    line_of: Callable[[Checked[FieldsT], Codes], Any]
    create: Callable[[Transaction, Sequence[Document]], list[Record | Problem]]
    """Each of them, or why it is refused."""
    change: Callable[[Transaction, int, Document], object]
    move: Callable[[Transaction, Sequence[int], Any, Any], object]
    """Of the documents with these ids, from the one status to the other."""
    goes_alone: Callable[[Document], bool] = always
    """Whether all that is before a document must be done before it is created, and it before what follows."""
    walked_last: bool = False
    """Whether all documents of the file are there before the first is moved: what one does may close the others.
    """
    comes_about: frozenset[str] = frozenset()
    """Statuses that other documents bring about: one that cannot be moved there by hand waits for them."""

    def documents(self, rows: Iterable[Row], codes: Codes, outcome: Outcome) -> Iterator[Document]:
        """The documents whose rows could all be read; what is wrong with the others is told to the outcome."""
        for rows_of_one in self._groups(rows, codes, outcome):
            first = rows_of_one[0]
            yield Document(
                first.fields.code,
                first.fields.external_ref,
                first.fields.status,
                [row.line for row in rows_of_one],
                self.fields_of(first, codes),
                [self.line_of(row, codes) for row in rows_of_one],
            )

    def refuse(self, problem: Problem, document: Document, outcome: Outcome) -> None:
        """Tells the errors of a document at the row and column of the file that they are about."""
        if not problem.errors:
            outcome.refuse(document.rows[0], {"status": [problem.message.rstrip(".")]})
        for path, sentences in problem.errors.items():
            name, _, rest = path.partition(".")
            line = document.rows[0]
            if name == self.lines and rest:
                number, _, field = rest.partition(".")
                name, line = f"{self.lines}.{field}", document.rows[int(number)]
            column = self.columns.get(name, name.removeprefix(f"{self.lines}."))
            outcome.refuse(line, {column: sentences})

    def _groups(self, rows: Iterable[Row], codes: Codes, outcome: Outcome) -> Iterator[list[Checked[FieldsT]]]:
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


def one_by_one(
    create: Callable[[Transaction, Document], Record],
) -> Callable[[Transaction, Sequence[Document]], list[Record | Problem]]:
    def create_each(tx: Transaction, documents: Sequence[Document]) -> list[Record | Problem]:
        made: list[Record | Problem] = []
        for document in documents:
            try:
                made.append(create(tx, document))
            except Problem as problem:
                made.append(problem)
        return made

    return create_each


def one_at_a_time(
    move: Callable[[Transaction, int, Any, Any], object],
) -> Callable[[Transaction, Sequence[int], Any, Any], None]:
    def move_each(tx: Transaction, ids: Sequence[int], current: Any, requested: Any) -> None:
        for document_id in ids:
            move(tx, document_id, current, requested)

    return move_each


DOCUMENTS: Final = Pile("staged_documents")
TOGETHER: Final = 200
"""So many new documents are created at once, where they may be."""


class DocumentImport(Import):
    """Documents that are not known are created, the others changed; then each is walked to its status."""

    checks_all = False

    def __init__(self, file: DocumentFile[Any]) -> None:
        self._file = file
        self._count = 0
        self._codes: Codes | None = None
        self._found = Outcome()
        self._later: list[Callable[[], None]] = []

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        DOCUMENTS.make(tx, schema)
        self._count = put_down(tx, schema, rows)
        return self._count

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        """The rows are read again only when a code means something else than the first time."""
        if self._codes is not None and self._codes.are_the_same(tx):
            return
        self._codes, self._found = Codes(tx, self._file.references), Outcome()
        DOCUMENTS.empty(tx)
        DOCUMENTS.put_down(tx, self._file.documents(put_down_before(tx), self._codes, self._found))

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        outcome.errors += self._found.errors
        file, done = self._file, 0
        waiting: list[Document] = []
        for document in DOCUMENTS.take_up(tx):
            progress(done, self._count)
            done += len(document.rows)
            if document.code is None:  # one that waits may have its external_ref
                waiting = self._create(tx, waiting, outcome)
            document_id = self._known(tx, document)
            goes_alone = document_id is not None or document.code is None or file.goes_alone(document)
            if goes_alone or len(waiting) == TOGETHER:
                waiting = self._create(tx, waiting, outcome)
            if document_id is not None:
                self._change(tx, document_id, document, outcome)
            elif goes_alone:
                self._create(tx, [document], outcome)
            else:
                waiting.append(document)
        self._create(tx, waiting, outcome)
        for walk in self._later:
            walk()

    def _create(self, tx: Transaction, documents: list[Document], outcome: Outcome) -> list[Document]:
        """Those that still wait: none."""
        made = self._file.create(tx, documents) if documents else []
        created: list[tuple[Document, int]] = []
        for document, each in zip(documents, made, strict=True):
            if isinstance(each, Problem):
                self._file.refuse(each, document, outcome)
            else:
                created.append((document, each.id))
        for _, alike in groupby(created, key=lambda found: found[0].status):
            self._walk_in_turn(tx, list(alike), None, outcome)
        return []

    def _change(self, tx: Transaction, document_id: int, document: Document, outcome: Outcome) -> None:
        before = self._file.table.one(tx, document_id)
        try:
            self._file.change(tx, document_id, document)
        except Problem as problem:
            self._file.refuse(problem, document, outcome)
        else:
            self._walk_in_turn(tx, [(document, document_id)], before, outcome)

    def _walk_in_turn(
        self, tx: Transaction, alike: list[tuple[Document, int]], before: Record | None, outcome: Outcome
    ) -> None:
        """Documents that are to have the same status, with their ids; several, if they were created together."""

        def walk() -> None:
            try:
                self._walk(tx, alike[0][0].status, [document_id for _, document_id in alike], before, outcome)
            except Problem as problem:
                self._file.refuse(problem, alike[0][0], outcome)

        if self._file.walked_last:
            self._later.append(walk)
        else:
            walk()

    def _known(self, tx: Transaction, document: Document) -> int | None:
        if document.code is not None:
            return self._file.table.id_of_code(tx, document.code)
        assert document.external_ref is not None
        return self._file.table.id_of_external_ref(tx, document.external_ref)

    def _walk(
        self, tx: Transaction, wanted: str | None, ids: list[int], before: Record | None, outcome: Outcome
    ) -> None:
        """Documents that are new, or the one that was like this `before`."""
        table = self._file.table
        if wanted is not None:
            current = table.initial if before is None else table.columns(tx, ids[0])["status"]
            for each in pairwise(self._route(current, wanted)):
                self._file.move(tx, ids, *each)
        if before is None:
            outcome.created += len(ids)
        elif table.one(tx, ids[0]) == before:
            outcome.unchanged += 1
        else:
            outcome.updated += 1

    def _route(self, current: str, wanted: str) -> list[str]:
        """The statuses from the one to the other, by moves that are allowed."""
        try:
            return [current, *self._file.moves.route(current, wanted)]
        except Problem:
            if wanted in self._file.comes_about:
                return []
            raise


def _key(row: Row) -> tuple[str, object]:
    """What the document is known by."""
    code = row.values.get("code")
    return ("code", code) if code is not None else ("external_ref", row.values.get("external_ref"))
