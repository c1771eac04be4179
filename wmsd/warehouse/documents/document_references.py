"""Finds the records to which a document refers, and all errors in these references.

References are also checked if other fields of the body are malformed. So one answer reports all errors of a
request.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from wmsd.contract.field_errors import FieldError, code_taken, external_ref_taken, invalid_field
from wmsd.contract.operation import References
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import form_errors
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.articles.store import Reference
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.store import PARTNERS, WAREHOUSES, DirectoryKind
from wmsd.warehouse.documents.file_codes import NO_ARTICLE, Referred
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.packaging.packaging_lines import Types

CODES: Final[Mapping[str, str]] = {PARTNERS.noun: "INVALID_PARTNER", WAREHOUSES.noun: "INVALID_WAREHOUSE"}
"""The error codes for partners and warehouses, by the noun of the kind. These records must exist and be active.
Records of all other kinds may be inactive.
"""
Sent = Mapping[str, Any]


def check_record(tx: Transaction, kind: Referred, record_id: int, path: str) -> Iterator[FieldError]:
    """Yield an error at `path` if the record does not exist. Also yield an error if a partner or warehouse is
    inactive.
    """
    code, is_active = CODES.get(kind.noun, "VALIDATION_FAILED"), _is_active(tx, kind, record_id)
    if is_active is None:
        yield FieldError(code, path, f"is not a {kind.noun} of this company")
    elif not is_active and kind.noun in CODES:
        yield FieldError(code, path, f"is an inactive {kind.noun}")


def _is_active(tx: Transaction, kind: Referred, record_id: int) -> bool | None:
    """Return whether the record is active, or None if there is no such record.

    A document always counts as active.
    """
    if isinstance(kind, DirectoryKind):
        return directory.is_active(tx, kind, record_id)
    return True if kind.find_columns(tx, record_id) else None


def check_document(
    tx: Transaction,
    table: DocumentTable,
    document_id: int | None,
    values: Mapping[str, Any],
    current: Mapping[str, Any],
) -> Iterator[FieldError]:
    """Yield the errors in the document's code, external_ref and references. The lines of the document are not
    checked.

    `document_id` is None for a new document. `current` has the stored values. A reference that has not changed is
    not checked again.
    """
    for name, kind in table.references.items():
        record_id = values.get(f"{name}_id")
        if record_id is not None and record_id != current.get(f"{name}_id"):
            yield from check_record(tx, kind, record_id, f"{name}_id")
    code, external_ref = values["code"], values["external_ref"]
    of_code = None if code is None else table.id_of_code(tx, code)
    if of_code not in (None, document_id):
        yield code_taken(table.noun, of_code)
    for sentence in form_errors(tx, table.name, table.noun, code, current.get("code")):
        yield invalid_field("code", sentence)
    holder = None if external_ref is None else table.id_of_external_ref(tx, external_ref)
    if holder is not None and holder != document_id:
        yield external_ref_taken(table.noun, holder)


class HasStatus(Protocol):
    """A body that may have a status."""

    @property
    def status(self) -> Any: ...

    @property
    def model_fields_set(self) -> set[str]: ...


def sent_status(body: HasStatus) -> Any:
    """Return the status that was sent, or None if no status was sent."""
    return body.status if "status" in body.model_fields_set else None


def not_initial(table: DocumentTable, status: str) -> list[FieldError]:
    if status == table.initial:
        return []
    return [invalid_field("status", f"must be {table.initial}, the first status of every {table.noun}")]


class NamesArticle(Protocol):
    """A line that names its article by id or by code."""

    @property
    def article_id(self) -> int | None: ...

    @property
    def article_code(self) -> str | None: ...


class Articles:
    """The articles that `lines` name, read in one query. An inactive article is an error, unless it is already in
    one of the stored lines `before`.
    """

    def __init__(
        self, tx: Transaction, lines: Sequence[NamesArticle], before: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        ids = {line.article_id for line in lines if line.article_id is not None}
        codes = {line.article_code for line in lines if line.article_id is None and line.article_code is not None}
        found = articles.references(tx, ids, codes)
        self._by_id = {article.id: article for article in found}
        self._by_code = {article.code: article for article in found}
        self._before = {row["article_id"] for row in before}

    def find(self, line: NamesArticle, path: str, errors: list[FieldError]) -> Reference | None:
        """Return the article that the line names, or None. If the article is unknown or inactive, add an error to
        `errors`.
        """
        article, error = self._find(line, path)
        errors += [] if error is None else [error]
        return article

    def _find(self, line: NamesArticle, path: str) -> tuple[Reference | None, FieldError | None]:
        if line.article_id is not None:
            named, article = f"{path}.article_id", self._by_id.get(line.article_id)
        elif line.article_code is not None:
            named, article = f"{path}.article_code", self._by_code.get(line.article_code)
        else:
            return None, invalid_field(f"{path}.article_id", "is required unless article_code is given")
        if article is None:
            return None, FieldError("INVALID_ARTICLE", named, NO_ARTICLE)
        if line.article_code not in (None, article.code):
            sentence = f"is not the code of article {article.id}"
            return None, FieldError("INVALID_ARTICLE", f"{path}.article_code", sentence)
        if not article.is_active and article.id not in self._before:
            return None, FieldError("INVALID_ARTICLE", named, "is an inactive article")
        return article, None


class Line(NamedTuple):
    """The fields by which a line names its article."""

    article_id: int | None
    article_code: str | None


class Packed(NamedTuple):
    """The fields by which a line of packaging names its packaging type."""

    packaging_type_id: int | None
    packaging_type_code: str | None


def references_of(table: DocumentTable, begins: Callable[[str], list[FieldError]] | None = None) -> References:
    """Return a function that yields every error in the references of a request body and its lines. The function
    also yields errors if the code or the external_ref is taken.

    `begins` checks the status of a new document, and returns the errors. If it is None, a new document must have
    the initial status.
    """

    def find(tx: Transaction, sent: Sent, named: Mapping[str, Any]) -> Iterator[FieldError]:
        document_id = named.get("id")
        current = {} if document_id is None else table.find_columns(tx, document_id)
        if current is None:
            return
        if document_id is None:
            status = sent.get("status") or table.initial
            yield from not_initial(table, status) if begins is None else begins(status)
        yield from check_document(tx, table, document_id, {"code": None, "external_ref": None, **sent}, current)
        before = [] if document_id is None else table.line_table.of(tx, document_id)
        yield from _of_lines(tx, table, objects_in(sent, table.lines), before)
        yield from _of_packaging(tx, objects_in(sent, "packaging"))

    return find


def objects_in(sent: Sent, name: str) -> list[tuple[str, Sent]]:
    """Return the well-formed objects of the list in the field `name`, each with its path, such as `lines.0`."""
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
    """Return True if the line must be checked. Return False if the line has a field for the id or the code of its
    record, but each of these fields is null. A null can stand for a malformed value, whose error is already
    reported.

    `kind` has the names of the fields with the id and the code.
    """
    return any(line.get(name) is not None for name in kind._fields) or not any(
        name in line for name in kind._fields
    )
