"""The kinds of CSV files, with the columns of each kind and the module that a company needs for it."""

import csv
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import IO, Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import unambiguous
from wmsd.base.quantity import to_text
from wmsd.contract import csv_cells
from wmsd.contract.bulk_imports import Import, ImportRefused, Outcome, Progress, Row, Watch
from wmsd.db.engine.staging import HERE, STAGED, Staging, forget_staged_rows
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import put_down, put_down_before
from wmsd.imports import similar_codes
from wmsd.imports.csv_rows import PLAIN, Form, read_rows
from wmsd.imports.disk_space import Room
from wmsd.imports.store import Recording
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.articles.imports import ArticleImport
from wmsd.warehouse.articles.schema import ArticleFields
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.imports import ADDRESS, import_records
from wmsd.warehouse.directory.schema import Address, ClientFields, PartnerFields, WarehouseFields
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.file_rows import DocumentRows
from wmsd.warehouse.documents.imports import DocumentImport
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.packaging import store as packaging
from wmsd.warehouse.packaging.imports import import_packaging_movements, import_packaging_types
from wmsd.warehouse.packaging.schema import PackagingMovementFields, PackagingTypeFields
from wmsd.warehouse.stock import parts
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.counts import CountOutcome
from wmsd.warehouse.stock.imports import CountRow, StockCountImport
from wmsd.warehouse.stock.schema import StockCountRow

OF_FIXED_KINDS: Final = {
    "articles": "articles",
    "stock": "stock",
    "stock-count": "stock",
    "packaging-types": "stock",
    "packaging-movements": "stock",
}
Upsert = Callable[..., None]
"""A function that writes rows. It takes the transaction, the rows and the outcome, and the options of the kind as
keyword arguments.
"""
STRIDE: Final = 100
"""The number of rows between two progress reports."""
MODULE_OF: Final = {**OF_FIXED_KINDS, **{kind.name: kind.reading.by_page.module for kind in DOCUMENTS}}
"""The module that an import of each kind needs. A kind that is missing here needs no module."""


class RowByRow(Import):
    """An import that writes row by row, with the same functions that write a single record.

    Whether a row is valid can depend on the rows before it, so all checks run while rows are written.
    """

    checks_all = False

    def __init__(self, upsert: Upsert, **options: Any) -> None:
        self._upsert = partial(upsert, **options)
        self._count = 0

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        self._count = put_down(tx, schema, rows)
        return self._count

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        pass

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        self._upsert(tx, self._rows(tx, progress), outcome)

    def _rows(self, tx: Transaction, progress: Progress) -> Iterator[Row]:
        for number, row in enumerate(put_down_before(tx)):
            if number % STRIDE == 0:
                progress(number, self._count)
            yield row


@dataclass(frozen=True)
class Kind:
    """A kind of CSV file: its columns in export order, and how its rows are imported and exported."""

    columns: dict[str, FieldInfo]
    required: tuple[str, ...]
    importing: Callable[..., Import]
    """The function that creates an import. It takes the options of the kind as keyword arguments."""
    records: Callable[[Transaction], Iterator[dict[str, Any]]]
    rows: Callable[[Transaction, Iterable[dict[str, Any]]], Iterator[dict[str, Any]]] | None = None
    """A function that converts records to rows. None if each record has exactly one row. The numbers in the
    records are strings.
    """
    own: Mapping[str, str] | None = None
    """The SQL for each column that is not a field of the record. None if a record can have several rows, or if no
    operation exports this kind (see `can_be_exported`).
    """
    outcome: type[Outcome] = Outcome
    options: tuple[str, ...] = ()
    """The names of the options that an import of this kind takes."""
    of_lines: frozenset[str] = frozenset()
    """The columns of document lines. If a file lacks all of them, an import changes existing documents, and keeps
    their lines.
    """
    table: str | None = None
    """The table with the codes of the records. None if wmsd does not warn about similar codes for this kind."""
    bytes_per_row: int = 1000
    """The maximum disk space in bytes that one row needs while rows are written. This includes the company's file
    and its write-ahead log. Measured with 5 000 to 20 000 rows.
    """


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
    for record in map(csv_cells.read_record, articles.every(tx)):
        client_id = record["client_id"]
        yield {**record, "client_code": None if client_id is None else codes[int(client_id)]}


def _directory(kind: DirectoryKind, tx: Transaction) -> Iterator[dict[str, Any]]:
    for record in map(csv_cells.read_record, directory.every(tx, kind)):
        address = record["address"] or {}
        yield {**record, **{f"{ADDRESS}{name}": value for name, value in address.items()}}


def _stock(tx: Transaction) -> Iterator[dict[str, Any]]:
    return map(csv_cells.read_record, stock.every(tx))


def _stock_count(tx: Transaction) -> Iterator[dict[str, Any]]:
    for article_code, warehouse_code, goods, there in parts.every(tx):
        place = {"article_code": article_code, "warehouse_code": warehouse_code, **goods._asdict()}
        yield {**place, **{name: to_text(amount) for name, amount in there._asdict().items()}}


def _packaging_types(tx: Transaction) -> Iterator[dict[str, Any]]:
    return map(csv_cells.read_record, directory.every(tx, packaging.TYPES))


def _packaging_movements(tx: Transaction) -> Iterator[dict[str, Any]]:
    codes = directory.codes_by_id(tx, directory.PARTNERS)
    for record in map(csv_cells.read_record, packaging.every_movement(tx)):
        yield {**record, "partner_code": codes[int(record["partner_id"])]}


def _directory_kind(kind: DirectoryKind, model: type[BaseModel]) -> Kind:
    return Kind(
        _directory_columns(model),
        ("code", "name"),
        partial(RowByRow, import_records, kind=kind),
        partial(_directory, kind),
        own={f"{ADDRESS}{name}": f"address ->> '$.{name}'" for name in Address.model_fields},
        table=kind.table,
        bytes_per_row=400,
    )


def _document_kind(kind: DocumentKind) -> Kind:
    rows = DocumentRows(kind)
    importing = partial(DocumentImport, kind)
    return Kind(
        rows.columns,
        rows.required,
        importing,
        rows.exported,
        rows.rows_of,
        of_lines=frozenset(rows.line_columns),
        bytes_per_row=2900,
    )


KINDS: Final[Mapping[str, Kind]] = {
    "articles": Kind(
        _article_columns(),
        ("code",),
        ArticleImport,
        _articles,
        own={"client_code": "(SELECT clients.code FROM clients WHERE clients.id = client_id)"},
        table="articles",
        bytes_per_row=3200,
    ),
    "clients": _directory_kind(directory.CLIENTS, ClientFields),
    "partners": _directory_kind(directory.PARTNERS, PartnerFields),
    "warehouses": _directory_kind(directory.WAREHOUSES, WarehouseFields),
    "stock": Kind(
        dict(CountRow.model_fields),
        tuple(CountRow.model_fields),
        partial(StockCountImport, reason="import"),
        _stock,
        own={},
    ),
    "stock-count": Kind(
        dict(StockCountRow.model_fields),
        tuple(CountRow.model_fields),
        StockCountImport,
        _stock_count,
        outcome=CountOutcome,
        options=("complete", "reason"),
    ),
    **{kind.name: _document_kind(kind) for kind in DOCUMENTS},
    "packaging-types": Kind(
        dict(PackagingTypeFields.model_fields),
        ("code", "name"),
        partial(RowByRow, import_packaging_types),
        _packaging_types,
        table="packaging_types",
        bytes_per_row=150,
    ),
    "packaging-movements": Kind(
        dict(PackagingMovementFields.model_fields),
        ("packaging_type_code", "partner_code", "direction", "quantity"),
        partial(RowByRow, import_packaging_movements),
        _packaging_movements,
        own={"partner_code": "(SELECT partners.code FROM partners WHERE partners.id = partner_id)"},
    ),
}


def import_csv(tx: Transaction, kind: Kind, lines: Iterable[str], **options: object) -> Outcome:
    """Import a few rows in the transaction `tx`, and return the outcome. `lines` are the lines of the file, with
    the header first, and `options` the options of the kind.

    Raise ImportRefused with all errors, or Unreadable if the file is not valid CSV. After an error the caller must
    roll back.
    """
    outcome, importing = kind.outcome(), kind.importing(**options)
    importing.gather(
        tx, HERE, read_rows(kind.columns, kind.required, lines, outcome, of_lines=kind.of_lines), outcome
    )
    importing.check(tx, outcome)
    _write(tx, importing, outcome, Watch().rows)
    forget_staged_rows(tx)
    return outcome


def import_beside(
    staging: Staging,
    kind: Kind,
    texts: Iterable[str],
    dry_run: bool = False,
    watch: Watch | None = None,
    form: Form = PLAIN,
    recording: Recording | None = None,
    room: Room | None = None,
    outcome: Outcome | None = None,
    **options: object,
) -> Outcome:
    """Import any number of rows, and return the outcome. `texts` are the lines of the file, with the header first.

    The rows are first stored and checked in a separate file. Only the last step, which writes the records, makes
    other writers wait. This step checks the rows again, because other users may have changed records since the
    first check.

    A dry run changes nothing. `watch` receives the progress, and `options` are the options of the kind. The
    default outcome of a kind may need much memory: if you need only the counts, pass `Outcome()` as `outcome`.

    Raise ImportRefused with all errors. Raise Unreadable if the file is not valid CSV. Raise Problem or FileFull
    if the import exceeds the limits of `room`.
    """
    outcome, importing, watch = outcome or kind.outcome(), kind.importing(**options), watch or Watch()
    rows = read_rows(kind.columns, kind.required, texts, outcome, form, kind.of_lines)

    def gather(tx: Transaction) -> int:
        seen = rows if kind.table is None else similar_codes.noted(tx, STAGED, kind.table, rows)
        return importing.gather(tx, STAGED, seen, outcome)

    count = staging.gather(gather)
    if not count:  # an import without rows writes nothing and is not recorded
        _refuse(outcome)
        return outcome
    watch.rows(0, count)
    staging.check(lambda tx: importing.check(tx, outcome))
    if importing.checks_all:
        _refuse(outcome)
    if kind.table is not None:
        outcome.alike = staging.check(partial(similar_codes.find, table=kind.table))
    if importing.checks_all and dry_run:
        return outcome
    if room is not None:
        room.admit(count, kind.bytes_per_row)

    gc.freeze()  # no existing object is garbage: the collector must not scan them while other writers wait

    def write(tx: Transaction) -> None:
        if not dry_run:
            watch.writing()
        importing.check(tx, outcome)
        end = None if recording is None else recording.begin(tx)
        _write(tx, importing, outcome, watch.rows)
        if dry_run:
            raise DryRun
        if end is not None:
            end(outcome)

    watch.checked()
    look, most_growth = (None, None) if room is None else (room.look, room.most_growth)
    with suppress(DryRun):
        staging.write(write, watch.committing, look, most_growth)
        watch.rows(count, count)
    return outcome


def _write(tx: Transaction, importing: Import, outcome: Outcome, progress: Progress) -> None:
    if not (importing.checks_all and outcome.errors):
        importing.write(tx, outcome, progress)
    _refuse(outcome)


def _refuse(outcome: Outcome) -> None:
    if outcome.errors:
        raise ImportRefused(outcome)


class DryRun(Exception):
    """The exception that rolls back the changes at the end of a successful dry run."""


def write_headings(kind: Kind, file: IO[str]) -> None:
    """Write the first line of a file of this kind: the names of the columns."""
    csv.writer(file, lineterminator="\n").writerow(map(csv_cells.write_cell, kind.columns))


def export_csv(tx: Transaction, kind: Kind, file: IO[str]) -> int:
    """Write a file that an import accepts unchanged. Return the number of rows."""
    write_headings(kind, file)
    writer = csv.writer(file, lineterminator="\n")
    count = 0
    for record in kind.records(tx):
        writer.writerow(cells_of(kind, record))
        count += 1
    return count


def cells_of(kind: Kind, record: Mapping[str, Any]) -> list[str]:
    """Return the cells of the row for `record`, in the order of the kind's columns."""
    written = {name: csv_cells.write_cell(record.get(name)) for name in kind.columns}
    return [
        unambiguous(cell) if csv_cells.is_number(kind.columns[name]) else cell for name, cell in written.items()
    ]
