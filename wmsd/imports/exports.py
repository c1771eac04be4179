"""Exports of lists as files: operations that return CSV lines instead of records."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from wmsd.base import time_zones
from wmsd.base.strict_json import dumps
from wmsd.contract import csv_cells
from wmsd.contract.fields import Model
from wmsd.contract.operation import Operation
from wmsd.contract.results import CursorPage
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.csv_lines import END, CsvLines, csv_line
from wmsd.imports.file_kinds import KINDS, cells_of

Records = list[dict[str, Any]]
Cells = Iterable[list[str]]


class Lines(Model):
    """CSV lines with their line ends."""

    text: str


def can_be_exported(kind_name: str) -> bool:
    kind = KINDS.get(kind_name)
    return kind is not None and (kind.rows is not None or kind.own is not None)


def as_lines(walking: Operation, columns: Sequence[str], moments: Collection[str], zone: ZoneInfo) -> Operation:
    """Return an operation that lists the same records as `walking`, with one CSV line for each record.

    The field `seconds` of the answer is the processor time in seconds that was used for the lines. The columns in
    `moments` contain local times of `zone`, in a form that spreadsheets can read.
    """
    written = partial(time_zones.for_spreadsheets, zone=zone)

    def cell(name: str, value: Any) -> str:
        return written(value) if name in moments else csv_cells.write_cell(value)

    def cells(tx: Transaction, records: Records) -> Cells:
        return ([cell(name, each.get(name)) for name in columns] for each in records)

    return replace(
        walking,
        name=f"{walking.name}_as_lines",
        action=_lines_of(walking, lambda: CsvLines(columns, moment=written), cells),
        summary=f"{walking.summary}, as lines of CSV",
        returns=Lines,
    )


def as_export(walking: Operation, kind_name: str) -> Operation:
    """Return an operation that lists the same records as `walking`, but as CSV rows that an import accepts. Only
    company admins may use this operation.

    A record may have several rows. A row refers to other records by their codes, not by their ids.
    """
    kind = KINDS[kind_name]

    def csv() -> CsvLines | None:
        if kind.own is None:
            return None
        own = {name: (sql, kind.columns[name]) for name, sql in kind.own.items()}
        return CsvLines(list(kind.columns), own, is_unambiguous=True)

    def cells(tx: Transaction, records: Records) -> Cells:
        assert kind.rows is not None
        return (cells_of(kind, row) for row in kind.rows(tx, records))

    return replace(
        walking,
        name=f"export_{kind_name.replace('-', '_')}",
        action=_lines_of(walking, csv, cells),
        summary=f"{walking.summary}, as rows for an import",
        returns=Lines,
        role="company-admin",
    )


def _lines_of(
    walking: Operation, csv: Callable[[], CsvLines | None], cells: Callable[[Transaction, Records], Cells]
) -> Callable[..., CursorPage]:
    """Return a function that lists the same records as `walking`, but as CSV lines.

    SQLite writes the lines if it can. For this, `csv` returns the columns in the form that SQLite needs, or None
    if SQLite cannot write them. If SQLite has not written the lines, `cells` converts the records to cells.
    """

    def lines(tx: Transaction, **asked: Any) -> CursorPage:
        began = time.thread_time()
        tx.csv = rendering = csv()
        try:
            page: CursorPage = walking.action(tx, **asked)
        finally:
            tx.csv = None
        text = page.records
        if rendering is None or not rendering.has_rendered:
            records = csv_cells.read_record(f"[{text}]")
            text = END.join(map(csv_line, cells(tx, records)))
        seconds = f',"seconds":{time.thread_time() - began:.6f}'
        return replace(page, records=dumps({"text": f"{text}{END}" if text else ""}), positions="", beside=seconds)

    return lines
