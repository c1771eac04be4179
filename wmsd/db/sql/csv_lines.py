"""SQL that renders records as lines of CSV, from the same declarations as their JSON (`records.py`).

SQLite creates each line, because Python would take several times longer. Python functions write only the cells
that must be quoted, or that a spreadsheet could read as a formula.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pydantic.fields import FieldInfo

from wmsd.base.decimal_marks import unambiguous
from wmsd.contract import csv_cells
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import RecordSql, decimal_sql

END: Final = "\r\n"
COLUMN: Final = re.compile(r"[a-z0-9_.]+")
NEEDS_QUOTES: Final = re.compile(r'[",\r\n]')
NO_OWN: Final[Mapping[str, tuple[str, FieldInfo]]] = MappingProxyType({})
TEXT: Final = """CASE
    WHEN {0} IS NULL OR {0} = '' THEN ''
    WHEN {0} NOT GLOB '[0-9A-Za-z\u00c0-\u167f]*' OR instr({0}, ';') OR instr({0}, '\t')
        OR {0} GLOB '[0-9]*[Ee][-+][0-9]*' THEN csv_cell({0})
    WHEN {0} GLOB '*[",\r\n]*' THEN '"' || replace({0}, '"', '""') || '"'
    ELSE {0} END"""
"""The SQL of a text cell. Texts that may be formulas, or that spreadsheets read as numbers, go to `csv_cell`.

A text that begins with a letter or a digit is not a formula, unless it contains a `;` or a tab: spreadsheets also
look for a formula after these. Spreadsheets read a text like `1E+12` as a number.
"""
LIST: Final = "CASE WHEN {0} IS NULL OR {0} = '[]' THEN '' ELSE csv_list({0}) END"


class CsvLines:
    """Renders records as lines of CSV. `columns` are the names of the columns.

    By default, a column is the field of the record with the same name. `own` has the SQL and the model field of
    the other columns. If `is_unambiguous` is True, a number such as 1.234 is written as 1.2340, so that no program
    reads it as 1234. `moment` is a function that converts the API's times to the form in the file.
    """

    def __init__(
        self,
        columns: Sequence[str],
        own: Mapping[str, tuple[str, FieldInfo]] = NO_OWN,
        is_unambiguous: bool = False,
        moment: Callable[[str | None], str] | None = None,
    ) -> None:
        self._columns = columns
        self._own = own
        self._number = "csv_number" if is_unambiguous else ""
        self._moment = moment
        self.has_rendered = False
        """True if `render` was called: the list has then returned lines of CSV instead of JSON."""

    def render(self, tx: Transaction, record: RecordSql) -> str:
        """Return the SQL of the record's line, without the line break."""
        self.has_rendered = True
        for name, function in FUNCTIONS.items():
            tx.define(name, function)
        if self._moment is not None:
            tx.define(MOMENT, self._moment)
        columns = {**record.columns, **self._own}
        cells = (_cell_sql(*columns[name], self._number, self._moment is not None) for name in self._columns)
        return f"concat_ws(',', {', '.join(cells)})"


def _cell_sql(sql: str, field: FieldInfo, number: str, is_local: bool) -> str:
    """Return the SQL of a cell. The SQL never returns NULL, because NULL would drop the cell from the line.

    `sql` is the SQL of the value. `number` is the SQL function that writes unambiguous numbers, or "". If
    `is_local` is True, times are converted to the form in the file.
    """
    plain = csv_cells.plain_type(field)
    if csv_cells.is_number(field):
        text = decimal_sql(sql)
        three_digits = f"WHEN {sql} % 1000 = 0 AND {sql} % 10000 <> 0 THEN {number}({text}) " if number else ""
        whole = f"WHEN {sql} % 1000000 = 0 THEN {sql} / 1000000"
        return f"CASE WHEN {sql} IS NULL THEN '' {whole} {three_digits}ELSE {text} END"
    if plain is bool:
        return f"iif({sql}, 'true', 'false')"
    if plain is int:
        return f"coalesce({sql}, '')"
    if csv_cells.is_moment(field):
        return f"{MOMENT}({sql})" if is_local else f"coalesce({sql}, '')"
    form = LIST if csv_cells.is_list(field) else TEXT
    if COLUMN.fullmatch(sql):
        return form.format(sql)
    return f"(SELECT {form.format('a_value')} FROM (SELECT {sql} AS a_value))"


def csv_line(row: Sequence[str]) -> str:
    """Return the cells as a line of CSV, without the line break."""
    return ",".join(map(quoted, row))


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if NEEDS_QUOTES.search(cell) else cell


def _cell(value: Any) -> str:
    return quoted(csv_cells.write_cell(value))


def _list(text: str | None) -> str:
    """Return the cell for a list. `text` is the list as JSON."""
    return _cell(None if text is None else json.loads(text))


MOMENT: Final = "csv_moment"
FUNCTIONS: Final = {"csv_cell": _cell, "csv_list": _list, "csv_number": unambiguous}
