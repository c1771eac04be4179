"""A kind of document, declared once: lists, files, commands, figures and checks are made from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wmsd.base.checking import Check
from wmsd.base.fields import Input
from wmsd.base.operation import Operation
from wmsd.base.problems import Problem
from wmsd.base.results import Record
from wmsd.base.transitions import Transitions
from wmsd.db.transaction import Transaction
from wmsd.documents.checks import status_checks
from wmsd.documents.codes import Referred
from wmsd.documents.operations import Reading
from wmsd.documents.table import DocumentTable
from wmsd.stock.ledger import Kind as Movement

Row = dict[str, Any]


class Document(NamedTuple):
    """What the rows of a document say. `rows` is where they stand; `fields` are its own, with ids for codes."""

    code: str | None
    external_ref: str | None
    status: Any
    rows: list[int]
    fields: Row
    lines: list[Any]


Created = list[Record | Problem]
"""Each of some documents, or why it is refused."""


def always(_: Document) -> bool:
    return True


def own_lines(_: Transaction, document: Document) -> list[Any]:
    return document.lines


def shown_lines(_: Transaction, document: Row, lines: list[Row]) -> list[Row]:
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
    """How a kind of document stands in a file, as far as its fields do not say it.

    `line` is the model of a line there. `columns`: those of a field of the line's table, where it has not one of
    the same name.
    """

    line: type[Input]
    create: Callable[[Transaction, Sequence[Document], Sequence[Any]], Created]
    """Of documents and their bodies."""
    move: Callable[[Transaction, Sequence[int], Any, Any], object]
    """Of the documents with these ids, from the one status to the other."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"article_id": ("article_code",)})
    lines_of: Callable[[Transaction, Document], list[Any]] = own_lines
    """The lines of a document as a body has them."""
    lines_shown: Callable[[Transaction, Row, list[Row]], list[Row]] = shown_lines
    """The lines of a record with these columns."""
    goes_alone: Callable[[Document], bool] = always
    """Whether all that is before a document must be done before it is created, and it before what follows."""
    walked_last: bool = False
    """Whether all documents of the file are there before the first is moved: what one does may close the others.
    """
    comes_about: frozenset[str] = frozenset()
    """Statuses that other documents bring about: one that cannot be moved there by hand waits for them."""


@dataclass(frozen=True)
class DocumentKind:
    """`transitions` are those that are made by hand. `references`: what stands behind a field `…_id` of a document
    or a line, by the name without `_id`. `listed` are the columns of the command's lists: fields, references, and
    how many lines. `change` takes the transaction, a document's id, its new fields, lines and status.
    """

    table: DocumentTable
    transitions: Transitions[Any, Any]
    references: Mapping[str, Referred]
    listed: tuple[str, ...]
    reading: Reading
    writing: tuple[Operation, ...]
    change: Callable[..., Record]
    in_files: InFiles
    movements: tuple[Movement, ...] = ()
    """The kinds of movements that it makes in the stock ledger."""
    checks: tuple[Check, ...] = ()
    """Beside those of every kind."""

    @property
    def name(self) -> str:
        """In commands: `sales-orders`."""
        return self.table.name.replace("_", "-")

    @property
    def filters(self) -> tuple[str, ...]:
        """The references that lists can be asked for."""
        return tuple(name for name in self.references if f"{name}_id" in self.table.filters.model_fields)

    @property
    def every_check(self) -> tuple[Check, ...]:
        return (*self.checks, *status_checks(self.table))
