"""Looks up the records that a document refers to, and finds every error in those references."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from wmsd.articles import store as articles
from wmsd.articles.store import Reference
from wmsd.base.field_errors import FieldError
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES, DirectoryKind
from wmsd.documents.table import DocumentTable

CODES: Final[Mapping[str, str]] = {"partner": "INVALID_PARTNER", "warehouse": "INVALID_WAREHOUSE"}
FIELDS: Final[Mapping[str, DirectoryKind]] = {"partner_id": PARTNERS, "warehouse_id": WAREHOUSES}


def check_fields(tx: Transaction, values: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[FieldError]:
    """Errors of partner, warehouse and client. A reference that did not change is not checked again."""
    for name, kind in FIELDS.items():
        if name in values and values[name] != current.get(name):
            yield from check_record(tx, kind, values[name], name)
    client_id = values.get("client_id")
    if client_id is not None and not directory.exists(tx, CLIENTS, client_id):
        yield FieldError("VALIDATION_FAILED", "client_id", "is not a client of this company")


def check_record(tx: Transaction, kind: DirectoryKind, record_id: int, path: str) -> Iterator[FieldError]:
    is_active = directory.is_active(tx, kind, record_id)
    if is_active is None:
        yield FieldError(CODES[kind.noun], path, f"is not a {kind.noun} of this company")
    elif not is_active:
        yield FieldError(CODES[kind.noun], path, f"is a {kind.noun} that is not active")


def check_document(
    tx: Transaction,
    table: DocumentTable,
    document_id: int | None,
    values: Mapping[str, Any],
    current: Mapping[str, Any],
) -> Iterator[FieldError]:
    """Errors of the document's own fields. A new document's id is None."""
    yield from check_fields(tx, values, current)
    for name, find in (("code", table.id_of_code), ("external_ref", table.id_of_external_ref)):
        if values[name] is not None and find(tx, values[name]) not in (None, document_id):
            yield FieldError("VALIDATION_FAILED", name, f"is taken by another {table.noun}")


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
    """The articles that some lines name, read at once."""

    def __init__(self, tx: Transaction, lines: Sequence[NamesArticle]) -> None:
        ids = {line.article_id for line in lines if line.article_id is not None}
        codes = {line.article_code for line in lines if line.article_id is None and line.article_code is not None}
        found = articles.references(tx, ids, codes)
        self._by_id = {article.id: article for article in found}
        self._by_code = {article.code: article for article in found}

    def find(
        self, line: NamesArticle, path: str, kept: Container[int]
    ) -> tuple[Reference | None, FieldError | None]:
        """The line's article, or the error of its reference. An article in `kept` need not be active any more."""
        if line.article_id is not None:
            named, article = f"{path}.article_id", self._by_id.get(line.article_id)
        elif line.article_code is not None:
            named, article = f"{path}.article_code", self._by_code.get(line.article_code)
        else:
            return None, FieldError("INVALID_ARTICLE", f"{path}.article_id", "is required, or article_code")
        if article is None:
            return None, FieldError("INVALID_ARTICLE", named, "is not an article of this company")
        if line.article_code not in (None, article.code):
            sentence = f"is not the code of article {article.id}"
            return None, FieldError("INVALID_ARTICLE", f"{path}.article_code", sentence)
        if not article.is_active and article.id not in kept:
            return None, FieldError("INVALID_ARTICLE", named, "is an article that is not active")
        return article, None
