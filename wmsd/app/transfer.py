"""CSV in and out. A table says what each kind's columns are; import and export are loops over it."""

import csv
import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wmsd.articles import store as articles
from wmsd.articles.imports import import_articles
from wmsd.articles.schema import ArticleFields
from wmsd.base import cells
from wmsd.base.importing import CellError, ImportRefused, Outcome, Row
from wmsd.base.quantity import to_text
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.imports import ADDRESS, import_records
from wmsd.directory.schema import Address, ClientFields, PartnerFields, WarehouseFields
from wmsd.directory.store import DirectoryKind
from wmsd.documents.imports import DocumentFile
from wmsd.packaging import store as packaging
from wmsd.packaging.imports import import_packaging_movements, import_packaging_types
from wmsd.packaging.schema import PackagingMovementFields, PackagingTypeFields
from wmsd.purchase_orders.imports import FILE as PURCHASE_ORDERS
from wmsd.purchase_orders.imports import import_purchase_orders
from wmsd.receptions.imports import FILE as RECEPTIONS
from wmsd.receptions.imports import exported as receptions_exported
from wmsd.receptions.imports import import_receptions
from wmsd.returns.imports import FILE as RETURNS
from wmsd.returns.imports import import_returns
from wmsd.sales_orders.imports import FILE as SALES_ORDERS
from wmsd.sales_orders.imports import import_sales_orders
from wmsd.stock import contents
from wmsd.stock import store as stock
from wmsd.stock.counting import CountOutcome
from wmsd.stock.imports import CountRow, import_stock, import_stock_count
from wmsd.stock.schema import StockCountRow

NAMED_BY_CODE: Final = {
    "partner": directory.PARTNERS,
    "warehouse": directory.WAREHOUSES,
    "client": directory.CLIENTS,
}
DELIMITERS: Final = (",", ";", "\t")
CSV_FIELD_LIMIT: Final = 1024 * 1024

Upsert = Callable[..., None]
"""(transaction, rows, outcome, and the kind's own options by name)."""


@dataclass(frozen=True)
class Kind:
    """What can be transferred: its columns in the order of an export, and how rows go in and records come out."""

    columns: dict[str, FieldInfo]
    required: tuple[str, ...]
    upsert: Upsert
    records: Callable[[Transaction], Iterator[dict[str, Any]]]
    outcome: type[Outcome] = Outcome
    options: tuple[str, ...] = ()
    """What beside its rows an import of this kind can be told."""


def _article_columns() -> dict[str, FieldInfo]:
    columns = dict(ArticleFields.model_fields)
    columns["client_code"] = FieldInfo(annotation=str | None)
    del columns["client_id"]
    return columns


def _directory_columns(model: type[BaseModel]) -> dict[str, FieldInfo]:
    columns = dict(model.model_fields)
    del columns["address"]
    return {**columns, **{f"{ADDRESS}{name}": part for name, part in Address.model_fields.items()}}


def _articles(tx: Transaction) -> Iterator[dict[str, Any]]:
    codes = directory.codes_by_id(tx, directory.CLIENTS)
    for record in _parsed(articles.every(tx)):
        client_id = record["client_id"]
        yield {**record, "client_code": None if client_id is None else codes[int(client_id)]}


def _directory(kind: DirectoryKind, tx: Transaction) -> Iterator[dict[str, Any]]:
    for record in _parsed(directory.every(tx, kind)):
        address = record["address"] or {}
        yield {**record, **{f"{ADDRESS}{name}": value for name, value in address.items()}}


def _stock(tx: Transaction) -> Iterator[dict[str, Any]]:
    return _parsed(stock.every(tx))


def _stock_count(tx: Transaction) -> Iterator[dict[str, Any]]:
    for article_code, warehouse_code, goods, there in contents.every(tx):
        place = {"article_code": article_code, "warehouse_code": warehouse_code, **goods._asdict()}
        yield {**place, **{name: to_text(amount) for name, amount in there._asdict().items()}}


def _packaging_types(tx: Transaction) -> Iterator[dict[str, Any]]:
    return _parsed(packaging.every_type(tx))


def _packaging_movements(tx: Transaction) -> Iterator[dict[str, Any]]:
    codes = directory.codes_by_id(tx, directory.PARTNERS)
    for record in _parsed(packaging.every_movement(tx)):
        yield {**record, "partner_code": codes[int(record["partner_id"])]}


def _documents(file: DocumentFile[Any], tx: Transaction) -> Iterator[dict[str, Any]]:
    """A row for each line of each document, with the codes of what they refer to."""
    codes = {name: directory.codes_by_id(tx, kind) for name, kind in NAMED_BY_CODE.items()}

    def named(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
        return {
            f"{prefix}{name}_code": known.get(int(record[f"{name}_id"] or 0))
            for name, known in codes.items()
            if f"{name}_id" in record
        }

    for document in _parsed(file.table.every(tx)):
        if (order_id := document.get("sales_order_id")) is not None:
            document["sales_order_code"] = SALES_ORDERS.table.columns(tx, int(order_id))["code"]
        for line in document[file.lines]:
            elsewhere = named(line, "line_") if line.get("warehouse_id") != document["warehouse_id"] else {}
            of_line = {name: line[name] for name in file.of_a_line if name in line}
            yield {**document, **named(document), **elsewhere, **of_line}


def _parsed(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Records with their numbers kept as texts: exports neither round nor reformat them."""
    return (json.loads(text, parse_float=str, parse_int=str) for text in texts)


def _directory_kind(kind: DirectoryKind, model: type[BaseModel]) -> Kind:
    return Kind(
        _directory_columns(model),
        ("code", "name"),
        partial(import_records, kind=kind),
        partial(_directory, kind),
    )


def _document_kind(
    file: DocumentFile[Any],
    upsert: Upsert,
    records: Callable[[Transaction], Iterator[dict[str, Any]]] | None = None,
) -> Kind:
    return Kind(dict(file.model.model_fields), file.required, upsert, records or partial(_documents, file))


KINDS: Final[Mapping[str, Kind]] = {
    "articles": Kind(_article_columns(), ("code",), import_articles, _articles),
    "clients": _directory_kind(directory.CLIENTS, ClientFields),
    "partners": _directory_kind(directory.PARTNERS, PartnerFields),
    "warehouses": _directory_kind(directory.WAREHOUSES, WarehouseFields),
    "stock": Kind(dict(CountRow.model_fields), tuple(CountRow.model_fields), import_stock, _stock),
    "stock-count": Kind(
        dict(StockCountRow.model_fields),
        tuple(CountRow.model_fields),
        import_stock_count,
        _stock_count,
        CountOutcome,
        ("complete", "reason"),
    ),
    "purchase-orders": _document_kind(PURCHASE_ORDERS, import_purchase_orders),
    "receptions": _document_kind(RECEPTIONS, import_receptions, receptions_exported),
    "sales-orders": _document_kind(SALES_ORDERS, import_sales_orders),
    "returns": _document_kind(RETURNS, import_returns),
    "packaging-types": Kind(
        dict(PackagingTypeFields.model_fields), ("code", "name"), import_packaging_types, _packaging_types
    ),
    "packaging-movements": Kind(
        dict(PackagingMovementFields.model_fields),
        ("packaging_type_code", "partner_code", "direction", "quantity"),
        import_packaging_movements,
        _packaging_movements,
    ),
}


class Unreadable(Exception):
    """The file cannot be read as CSV at all; the sentence says where and why."""


def import_csv(
    tx: Transaction, kind: Kind, lines: Iterable[bytes], dry_run: bool = False, **options: object
) -> Outcome:
    """All rows or none. Raises ImportRefused with every error, Unreadable for what is no CSV file."""
    outcome = kind.outcome()
    kind.upsert(tx, _rows(kind, lines, outcome), outcome, **options)
    if outcome.errors:
        outcome.errors = _told_once(outcome.errors)
        raise ImportRefused(outcome)
    if dry_run:
        raise DryRun(outcome)
    return outcome


def _told_once(errors: list[CellError]) -> list[CellError]:
    """By line; of each cell the first error only, which is its reader's when it could not be read."""
    first: dict[tuple[int, str], CellError] = {}
    for error in errors:
        first.setdefault((error.line, error.column), error)
    return sorted(first.values(), key=lambda error: error.line)


class DryRun(Exception):
    """Everything was fine, and is undone as was asked."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("dry run")
        self.outcome = outcome


def export_csv(tx: Transaction, kind: Kind, file: IO[str]) -> int:
    """Writes what import takes back unchanged. The number of rows."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(cells.write, kind.columns))
    count = 0
    for record in kind.records(tx):
        writer.writerow([cells.write(record.get(column)) for column in kind.columns])
        count += 1
    return count


def _rows(kind: Kind, lines: Iterable[bytes], outcome: Outcome) -> Iterator[Row]:
    texts = _decoded(lines)
    header = next(texts, "")
    delimiter = max(DELIMITERS, key=header.count)
    csv.field_size_limit(CSV_FIELD_LIMIT)
    reader = csv.reader(_chained(header, texts), delimiter=delimiter, strict=True)
    rows = ([cells.unguarded(cell) for cell in row] for row in reader)
    try:
        columns = _columns(kind, next(rows, []))
        readers = [(name, cells.reader(kind.columns[name]), kind.columns[name]) for name in columns]
        for row in rows:
            if row:
                values = _values(readers, row, reader.line_num, outcome)
                if values is not None:
                    yield Row(reader.line_num, values)
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num}: this is not CSV: {error}.") from None


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(f"line {number} is not UTF-8 text. Save the file as CSV UTF-8.") from None
        yield text.removeprefix("\ufeff") if number == 1 else text


def _columns(kind: Kind, header: list[str]) -> list[str]:
    names = [name.strip() for name in header]
    if not any(names):
        raise Unreadable(f"the first line must name the columns: {', '.join(kind.columns)}.")
    sentences = []
    for name in names:
        if name not in kind.columns:
            near = difflib.get_close_matches(name, list(kind.columns), n=1)
            hint = f"did you mean {near[0]}?" if near else f"the columns are {', '.join(kind.columns)}."
            sentences.append(f"there is no column {name!r}; {hint}")
    sentences += [f"the column {name!r} is there twice." for name in sorted(set(names)) if names.count(name) > 1]
    sentences += [f"the column {name!r} is missing." for name in kind.required if name not in names]
    if sentences:
        raise Unreadable(" ".join(sentences))
    return names


def _values(
    readers: list[tuple[str, cells.ReadCell, FieldInfo]], row: list[str], line: int, outcome: Outcome
) -> dict[str, object] | None:
    """The row's columns. What could not be read stays a text, so that the row's other errors are found too."""
    if len(row) != len(readers):
        sentence = f"has {len(row)} cells where the header has {len(readers)}"
        outcome.errors.append(CellError(line, "", sentence))
        return None
    values: dict[str, object] = {}
    for cell, (name, read, field) in zip(row, readers, strict=True):
        if cell == "":
            if cells.is_nullable(field):
                values[name] = None
            elif read is cells.MEMBERS:
                values[name] = []
            continue
        try:
            values[name] = read(cell)
        except ValueError as error:
            outcome.errors.append(CellError(line, name, str(error)))
            values[name] = cell
    return values
