"""Reads the current values of the records that an import would change. Previews show these values."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final

from wmsd.base.quantity import to_text
from wmsd.contract import csv_cells
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.imports import ADDRESS
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.file_rows import DocumentRows
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.packaging import store as packaging
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.parts import NOTHING, PartKey, contents_of
from wmsd.warehouse.stock.store import Place

Values = Mapping[str, Any]
LONGEST_NUMBER: Final = 20
Current = Callable[[Transaction, Values], Values | None]
"""A function that takes the values of a row. It returns the current values of the record that the row changes, by
column. It returns None if the row creates a record.
"""


def _article(tx: Transaction, row: Values) -> Values | None:
    article_id = articles.id_of_code(tx, str(row.get("code")))
    if article_id is None:
        return None
    record = csv_cells.read_record(articles.one(tx, article_id).json)
    client_id = record["client_id"]
    client = None if client_id is None else directory.columns(tx, directory.CLIENTS, int(client_id))
    return {**record, "client_code": None if client is None else client["code"]}


def _directory(kind: DirectoryKind, tx: Transaction, row: Values) -> Values | None:
    found = directory.by_code(tx, kind, str(row.get("code")))
    if found is None:
        return None
    record = kind.shown_fields(found)
    address = record.pop("address") or {}
    return {**record, **{f"{ADDRESS}{name}": value for name, value in address.items()}}


def _stock(tx: Transaction, row: Values) -> Values | None:
    """Return the stock of the article in the warehouse, or of the lot or serial if the row names one.

    Return None if the article or the warehouse is unknown.
    """
    article_id = articles.id_of_code(tx, str(row.get("article_code")))
    warehouse_id = directory.id_of_code(tx, directory.WAREHOUSES, str(row.get("warehouse_code")))
    if article_id is None or warehouse_id is None:
        return None
    place = Place(article_id, warehouse_id)
    found = stock.available_at(tx, [place]).get(place)
    names = {name: row.get(name) for name in ("article_code", "warehouse_code", *PartKey._fields)}
    if found is None:
        return {**names, "quantity": "0", "quarantined": "0"}
    if any(row.get(name) is not None for name in PartKey._fields):
        goods = PartKey(*(row.get(name) for name in PartKey._fields))
        there = contents_of(tx, [found[0]])[found[0]].parts.get(goods, NOTHING)
        return {**names, **{name: to_text(amount) for name, amount in there._asdict().items()}}
    balance = stock.balance(tx, found[0])
    return {**names, **{name: to_text(balance[name]) for name in ("quantity", "quarantined")}}


def _packaging_type(tx: Transaction, row: Values) -> Values | None:
    found = directory.by_code(tx, packaging.TYPES, str(row.get("code")))
    return None if found is None else {"code": row.get("code"), "name": found["name"]}


def _packaging_movement(tx: Transaction, row: Values) -> Values | None:
    code = row.get("code")
    found = None if code is None else packaging.content_of_code(tx, str(code))
    return None if found is None else row


def _document(kind: DocumentKind, tx: Transaction, row: Values) -> Values | None:
    """Return the current fields of the document. Leave out its lines, because a row does not say which line it
    changes. Return None if there is no such document.
    """
    found, of_lines = rows_of_document(kind, tx, row), DocumentRows(kind).line_columns
    if found is None:
        return None
    return {name: value for name, value in next(iter(found), {}).items() if name not in of_lines}


def rows_of_document(kind: DocumentKind, tx: Transaction, row: Values) -> list[Values] | None:
    """Return the current document as file rows. `row` names the document by `code` or `external_ref`.

    Return None if there is no such document.
    """
    code, external_ref = row.get("code"), row.get("external_ref")
    if code is not None:
        document_id = kind.table.id_of_code(tx, str(code))
    else:
        document_id = None if external_ref is None else kind.table.id_of_external_ref(tx, str(external_ref))
    if document_id is None:
        return None
    return list(DocumentRows(kind).rows_of(tx, [csv_cells.read_record(kind.table.one(tx, document_id).json)]))


CURRENT: Final[Mapping[str, Current]] = {
    "articles": _article,
    "clients": partial(_directory, directory.CLIENTS),
    "partners": partial(_directory, directory.PARTNERS),
    "warehouses": partial(_directory, directory.WAREHOUSES),
    "stock": _stock,
    "stock-count": _stock,
    "packaging-types": _packaging_type,
    "packaging-movements": _packaging_movement,
    **{kind.name: partial(_document, kind) for kind in DOCUMENTS},
}
"""The functions that read current values, by the kind of the import."""


def as_cell(value: object) -> str:
    """Return a value as the text of a cell. Equal numbers, such as 1.0 and 1.00, get the same text."""
    if isinstance(value, Decimal):
        return (
            f"{value.normalize():f}"
            if value.is_finite() and abs(value.adjusted()) < LONGEST_NUMBER
            else str(value)
        )
    return csv_cells.plain_cell(value)
