"""Looks up the records that a document refers to, and finds every error in those references."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from wmsd.contract.field_errors import FieldError, external_ref_taken
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.articles.store import Reference
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.store import PARTNERS, WAREHOUSES, DirectoryKind
from wmsd.warehouse.documents.file_codes import NO_ARTICLE, Referred
from wmsd.warehouse.documents.table import DocumentTable

CODES: Final[Mapping[str, str]] = {PARTNERS.noun: "INVALID_PARTNER", WAREHOUSES.noun: "INVALID_WAREHOUSE"}
"""The error codes of records that must be active. Others must exist."""


def check_record(tx: Transaction, kind: Referred, record_id: int, path: str) -> Iterator[FieldError]:
    """Errors of a reference to a record."""
    code, is_active = CODES.get(kind.noun, "VALIDATION_FAILED"), _is_active(tx, kind, record_id)
    if is_active is None:
        yield FieldError(code, path, f"is not a {kind.noun} of this company")
    elif not is_active and kind.noun in CODES:
        yield FieldError(code, path, f"is a {kind.noun} that is not active")


def _is_active(tx: Transaction, kind: Referred, record_id: int) -> bool | None:
    """None when there is no such record."""
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
    """Errors of the document's own fields. A new document's id is None. A reference that did not change is not
    checked again.
    """
    for name, kind in table.references.items():
        record_id = values.get(f"{name}_id")
        if record_id is not None and record_id != current.get(f"{name}_id"):
            yield from check_record(tx, kind, record_id, f"{name}_id")
    code, external_ref = values["code"], values["external_ref"]
    if code is not None and table.id_of_code(tx, code) not in (None, document_id):
        yield FieldError("VALIDATION_FAILED", "code", f"is taken by another {table.noun}")
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
    """The status that was sent; None for its default."""
    return body.status if "status" in body.model_fields_set else None


def not_initial(table: DocumentTable, status: str) -> list[FieldError]:
    if status == table.initial:
        return []
    return [FieldError("VALIDATION_FAILED", "status", f"must be {table.initial}: every {table.noun} begins there")]


class NamesArticle(Protocol):
    """A line that names its article by id or by code."""

    @property
    def article_id(self) -> int | None: ...

    @property
    def article_code(self) -> str | None: ...


class Articles:
    """The articles that some lines name, read at once. Those of the lines `before` need not be active any more."""

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
        """The line's article. Adds the error of its reference."""
        article, error = self._find(line, path)
        errors += [] if error is None else [error]
        return article

    def _find(self, line: NamesArticle, path: str) -> tuple[Reference | None, FieldError | None]:
        if line.article_id is not None:
            named, article = f"{path}.article_id", self._by_id.get(line.article_id)
        elif line.article_code is not None:
            named, article = f"{path}.article_code", self._by_code.get(line.article_code)
        else:
            return None, FieldError("VALIDATION_FAILED", f"{path}.article_id", "is required, or article_code")
        if article is None:
            return None, FieldError("INVALID_ARTICLE", named, NO_ARTICLE)
        if line.article_code not in (None, article.code):
            sentence = f"is not the code of article {article.id}"
            return None, FieldError("INVALID_ARTICLE", f"{path}.article_code", sentence)
        if not article.is_active and article.id not in self._before:
            return None, FieldError("INVALID_ARTICLE", named, "is an article that is not active")
        return article, None
