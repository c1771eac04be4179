"""Finds the errors in the references of a body whose form is wrong, so that all errors are told at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wmsd.contract.field_errors import FieldError
from wmsd.contract.operation import References
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.document_references import Articles, check_document, check_record
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.packaging.packaging_lines import Types

Sent = Mapping[str, Any]


class Line(NamedTuple):
    """How a line names its article."""

    article_id: int | None
    article_code: str | None


class Packed(NamedTuple):
    """How a line of packaging names its type."""

    packaging_type_id: int | None
    packaging_type_code: str | None


def references_of(table: DocumentTable) -> References:
    """What the document and its lines refer to, and whether its code and external_ref are free."""

    def find(tx: Transaction, sent: Sent, named: Mapping[str, Any]) -> Iterator[FieldError]:
        document_id = named.get("id")
        current = {} if document_id is None else table.find_columns(tx, document_id)
        if current is None:
            return
        yield from check_document(tx, table, document_id, {"code": None, "external_ref": None, **sent}, current)
        before = [] if document_id is None else table.line_table.of(tx, document_id)
        yield from _of_lines(tx, table, objects_in(sent, table.lines), before)
        yield from _of_packaging(tx, objects_in(sent, "packaging"))

    return find


def objects_in(sent: Sent, name: str) -> list[tuple[str, Sent]]:
    """The objects of a list that was sent, with their paths, but those that are malformed."""
    return [(f"{name}.{number}", each) for number, each in enumerate(sent.get(name) or ()) if each is not None]


def _of_lines(
    tx: Transaction, table: DocumentTable, lines: Sequence[tuple[str, Sent]], before: Sequence[Sent]
) -> Iterator[FieldError]:
    columns = table.line_table.fields
    if "article_id" in columns:
        named = [(path, Line(*_names(line, Line))) for path, line in lines if _is_named(line, Line)]
        articles = Articles(tx, [line for _, line in named], before)
        errors: list[FieldError] = []
        for path, line in named:
            articles.find(line, path, errors)
        yield from errors
    for name, kind in table.references.items():
        column = f"{name}_id"
        if column not in columns:
            continue
        known = {row[column] for row in before}
        wanted = {each[column] for _, each in lines if each.get(column) is not None} - known
        wrong = {record_id: list(check_record(tx, kind, record_id, column)) for record_id in sorted(wanted)}
        for path, each in lines:
            for error in wrong.get(each.get(column), ()):
                yield FieldError(error.code, f"{path}.{column}", error.sentence)


def _of_packaging(tx: Transaction, lines: Sequence[tuple[str, Sent]]) -> Iterator[FieldError]:
    named = [(path, Packed(*_names(line, Packed))) for path, line in lines if _is_named(line, Packed)]
    types = Types(tx, [line for _, line in named])
    for path, line in named:
        _, error = types.find(line, path)
        if error is not None:
            yield error


def _names(line: Sent, kind: type[Line | Packed]) -> list[Any]:
    return [line.get(name) for name in kind._fields]


def _is_named(line: Sent, kind: type[Line | Packed]) -> bool:
    """Whether a well-formed name was sent, or none: a malformed one is told of already."""
    return any(line.get(name) is not None for name in kind._fields) or not any(
        name in line for name in kind._fields
    )
