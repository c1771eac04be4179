"""Lists as files: the operation that walks a list, with lines of CSV in the place of records."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wmsd.base.strict_json import dumps
from wmsd.contract import csv_cells
from wmsd.contract.fields import Model
from wmsd.contract.operation import Operation
from wmsd.contract.results import CursorPage
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.csv_lines import END, CsvLines, csv_line
from wmsd.imports.file_kinds import KINDS, Kind, cells_of


class Lines(Model):
    """Lines of CSV, with their ends."""

    text: str


def can_be_exported(kind_name: str) -> bool:
    kind = KINDS.get(kind_name)
    return kind is not None and (kind.rows is not None or kind.own is not None)


def as_lines(walking: Operation, columns: Sequence[str]) -> Operation:
    """As `walking`, with one line for each record. Its answer has the `seconds` of the processor that it took."""

    def lines(tx: Transaction, **asked: Any) -> CursorPage:
        csv = CsvLines(columns)
        page, began = _walked(tx, walking, csv, asked)
        text = page.records
        if not csv.has_rendered:  # the list has an SQL of its own
            records = json.loads(f"[{text}]", parse_float=str, parse_int=str)
            text = END.join(
                csv_line([csv_cells.write_cell(each.get(name)) for name in columns]) for each in records
            )
        return _with_lines(page, text, began)

    return replace(
        walking,
        name=f"{walking.name}_as_lines",
        action=lines,
        summary=f"{walking.summary}, as lines of CSV",
        returns=Lines,
    )


def as_export(walking: Operation, kind_name: str) -> Operation:
    """As `as_lines`, as an import takes it back, for those who may import. A record may have several lines, and
    names others by their codes.
    """
    kind = KINDS[kind_name]
    return replace(
        walking,
        name=f"export_{kind_name.replace('-', '_')}",
        action=_lines_of_rows(walking, kind) if kind.own is None else _lines_of_records(walking, kind),
        summary=f"{walking.summary}, as rows that an import takes",
        returns=Lines,
        role="company-admin",
    )


def _lines_of_records(walking: Operation, kind: Kind) -> Any:
    assert kind.own is not None
    own = {name: (sql, kind.columns[name]) for name, sql in kind.own.items()}

    def lines(tx: Transaction, **asked: Any) -> CursorPage:
        csv = CsvLines(list(kind.columns), own, is_unambiguous=True)
        page, began = _walked(tx, walking, csv, asked)
        assert csv.has_rendered
        return _with_lines(page, page.records, began)

    return lines


def _lines_of_rows(walking: Operation, kind: Kind) -> Any:
    assert kind.rows is not None
    rows_of = kind.rows

    def lines(tx: Transaction, **asked: Any) -> CursorPage:
        page, began = _walked(tx, walking, None, asked)
        records = json.loads(f"[{page.records}]", parse_float=str, parse_int=str)
        return _with_lines(page, END.join(csv_line(cells_of(kind, row)) for row in rows_of(tx, records)), began)

    return lines


def _walked(
    tx: Transaction, walking: Operation, csv: CsvLines | None, asked: dict[str, Any]
) -> tuple[CursorPage, float]:
    """The page, and the time of the thread when it began."""
    began = time.thread_time()
    tx.csv = csv
    try:
        page: CursorPage = walking.action(tx, **asked)
    finally:
        tx.csv = None
    return page, began


def _with_lines(page: CursorPage, text: str, began: float) -> CursorPage:
    lines = dumps({"text": f"{text}{END}" if text else ""})
    seconds = f',"seconds":{time.thread_time() - began:.6f}'
    return replace(page, records=lines, positions="", beside=seconds)
