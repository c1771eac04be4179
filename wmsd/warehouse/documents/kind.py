"""The declaration of a kind of document. Lists, files, commands, metrics and checks are built from it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.fields import Input
from wmsd.contract.invariants import Check
from wmsd.contract.operation import Operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.checks import ledger_check, reservation_checks, status_checks
from wmsd.warehouse.documents.operations import Reading
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.documents.transitions import Transitions
from wmsd.warehouse.stock.stock_ledger import Kind as Movement

Row = dict[str, Any]


class Document(NamedTuple):
    """A document as it is read from a file.

    `rows` are the numbers of its rows in the file. `fields` are the fields that do not belong to a line, with ids
    instead of codes.
    """

    code: str | None
    external_ref: str | None
    status: Any
    rows: list[int]
    fields: Row
    lines: list[Any] | None
    """None if the rows have no line fields. The document's stored lines then do not change."""


Created = list[Record | Problem]
"""The results of creating documents, in their order. Each result is the record of the new document, or the problem
that prevented its creation.
"""


def always(_: Document) -> bool:
    return True


def own_lines(_: Transaction, document: Document) -> list[Any]:
    return document.lines or []


def lines_as_read(_: Transaction, document: Row, lines: list[Row]) -> list[Row]:
    return lines


def one_by_one(
    create: Callable[[Transaction, Document, Any], Record],
) -> Callable[[Transaction, Sequence[Document], Sequence[Any]], Created]:
    def create_each(tx: Transaction, documents: Sequence[Document], bodies: Sequence[Any]) -> Created:
        made: Created = []
        for document, body in zip(documents, bodies, strict=True):
            try:
                made.append(create(tx, document, body))
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


@dataclass(frozen=True)
class InFiles:
    """How documents of one kind are written in a file.

    `line` is the model of a line in a file. A column usually has the name of its field. `columns` has the column
    names of the line fields for which this is not true.
    """

    line: type[Input]
    create: Callable[[Transaction, Sequence[Document], Sequence[Any]], Created]
    """Creates documents. It takes the transaction, the documents, and their request bodies in the same order."""
    move: Callable[[Transaction, Sequence[int], Any, Any], object]
    """Changes the status of documents. It takes the transaction, the ids, the current and the new status."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"article_id": ("article_code",)})
    lines_of: Callable[[Transaction, Document], list[Any]] = own_lines
    """Converts the lines of a document in a file to lines of a request body."""
    lines_shown: Callable[[Transaction, Row, list[Row]], list[Row]] = lines_as_read
    """Returns the lines of a stored document for an export. To each line, it adds the columns that `columns`
    names.
    """
    goes_alone: Callable[[Document], bool] = always
    """Returns True if the document must be created in a separate call, after all documents before it in the file.
    """
    lines_are_replaced: bool = True
    """True if the lines in a file replace all stored lines of the document."""
    walked_last: bool = False
    """True if the import changes the status of documents only after it has created all documents of the file. This
    is necessary if a status may close other documents.
    """
    comes_about: frozenset[str] = frozenset()
    """The statuses that a document gets only through other documents. If a file gives such a status, a new
    document keeps the initial status.
    """


class Writing(NamedTuple):
    """The operations that write documents of a kind. `update` takes the fields that change, and a new status."""

    create: Operation
    replace: Operation
    update: Operation
    others: tuple[Operation, ...] = ()

    @property
    def operations(self) -> tuple[Operation, ...]:
        return (self.create, self.replace, self.update, *self.others)


class Posting(NamedTuple):
    """How documents of one kind post to the stock ledger. If a document is in one of `statuses`, its lines have
    movements of the kinds `movements`.

    `amount` is an SQL expression for the quantity of each movement. For each line, the sum of `amount` must equal
    the value in the line's column `of_line`.
    """

    movements: tuple[Movement, ...]
    statuses: frozenset[str]
    amount: str = "quantity"
    of_line: str = "quantity"


def _check_known(owner: str, names: Collection[str], what: str, known: Collection[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise TypeError(f"{owner} names {what} that do not exist: {', '.join(unknown)}")


@dataclass(frozen=True)
class DocumentKind:
    """A kind of document.

    `transitions` are the changes of status that a user may cause. `listed` are the columns that commands print in
    lists: fields, references, and the number of lines. `change` is a function that changes a document. It takes
    the transaction, the document's id, new fields, new lines and a new status.

    Raise TypeError if `listed` has an unknown column, or if a status is not in the table.
    """

    table: DocumentTable
    transitions: Transitions[Any, Any]
    listed: tuple[str, ...]
    reading: Reading
    writing: Writing
    change: Callable[..., Record]
    in_files: InFiles
    posting: Posting | None = None
    reserves_in: frozenset[str] = frozenset()
    """The statuses in which a document reserves the stock of its lines."""
    checks: tuple[Check, ...] = ()
    """The checks that only this kind has. `every_check` also has the checks that every kind has."""

    def __post_init__(self) -> None:
        table, posted = self.table, frozenset() if self.posting is None else self.posting.statuses
        columns = {*table.shown.model_fields, *table.references}
        moved = {status for move in self.transitions.table for status in move}
        named = moved | posted | self.reserves_in | self.in_files.comes_about
        _check_known(f"The list of {table.noun}s", self.listed, "columns", columns)
        _check_known(table.noun.capitalize(), named, "statuses", table.statuses)

    @property
    def name(self) -> str:
        """The name of the kind in commands, such as `sales-orders`."""
        return self.table.name.replace("_", "-")

    @property
    def movements(self) -> tuple[Movement, ...]:
        """The kinds of movements that the documents post to the stock ledger."""
        return () if self.posting is None else self.posting.movements

    @property
    def filters(self) -> tuple[str, ...]:
        """The references by which the kind's lists can be filtered."""
        return tuple(name for name in self.table.references if f"{name}_id" in self.table.filters)

    @property
    def every_check(self) -> tuple[Check, ...]:
        posted = () if self.posting is None else (ledger_check(self.table, *self.posting),)
        reserved = reservation_checks(self.table, self.reserves_in) if self.reserves_in else ()
        return (*reserved, *posted, *self.checks, *status_checks(self.table))
