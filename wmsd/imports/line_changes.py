"""Previews of an import: which lines of a document it would remove, and which lines it would add."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final

from wmsd.contract.bulk_imports import Row
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.current_values import as_cell, rows_of_document
from wmsd.imports.errors import short_cell
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.file_rows import OF_A_LINE, DocumentRows, document_key
from wmsd.warehouse.documents.kind import DocumentKind

MOST_NAMED: Final = 5
"""A preview lists at most this many removed lines, and at most this many added lines, of one document."""
REPLACED: Final[Mapping[str, DocumentKind]] = {
    kind.name: kind for kind in DOCUMENTS if kind.in_files.lines_are_replaced
}
Line = tuple[str, ...]


def first_rows(kind_name: str, rows: Iterator[Row], most: int) -> tuple[list[Row], list[Row]]:
    """Return two lists: the first `most` rows, and the following rows that belong to the document of the
    last row.
    """
    first = list(islice(rows, most))
    if not first or kind_name not in REPLACED:
        return first, []
    last, rest = document_key(first[-1]), list[Row]()
    for row in islice(rows, REPLACED[kind_name].table.most_lines):
        if document_key(row) != last:
            break
        rest.append(row)
    return first, rest


def line_changes(tx: Transaction, kind_name: str, rows: Iterable[Row]) -> dict[int, dict[str, Any]]:
    """Return the changes of document lines. The key is the number of a row in the file. The result has all rows of
    each document whose lines change.

    For the first row of a document, the value is the result of `_change`. For its other rows, the value is an
    empty dict.
    """
    kind, found = REPLACED.get(kind_name), dict[int, dict[str, Any]]()
    if kind is None:
        return found
    in_file = DocumentRows(kind)
    for _, group in groupby(rows, key=document_key):
        of_one = [row for row in group if in_file.has_line(row)]
        current = rows_of_document(kind, tx, of_one[0].values) if of_one else None
        if current is not None:
            columns = _preview_columns(kind, in_file, of_one)
            before = [_line(columns, values) for values in current]
            after = [_line(columns, row.values) for row in of_one]
            if before != after:
                found.update({row.line: {} for row in of_one})
                found[of_one[0].line] = _change(before, after)
    return found


def _preview_columns(kind: DocumentKind, in_file: DocumentRows, rows: Sequence[Row]) -> list[str]:
    """Return the line columns that a preview shows.

    Several columns may refer to the same record, such as `article_code` and `item`. Of these, leave out all but
    the first, unless they have a value in every row.
    """
    extra = {name for names in kind.in_files.columns.values() for name in names[1:]}
    left_out = {name for name in extra if any(row.values.get(name) is None for row in rows)}
    return [name for name in in_file.line_columns if name not in left_out]


def _line(columns: Iterable[str], values: Mapping[str, Any]) -> Line:
    """Return the cells of a line. If a value, such as the warehouse, is the same as in the document itself, its
    cell is empty.
    """
    cells = {name: as_cell(values.get(name)) for name in columns}
    own = {
        name: as_cell(values.get(name.removeprefix(OF_A_LINE))) for name in columns if name.startswith(OF_A_LINE)
    }
    return tuple("" if cell == own.get(name) else cell for name, cell in cells.items())


def _change(before: Sequence[Line], after: Sequence[Line]) -> dict[str, Any]:
    """Return the removed lines as `go` and the added lines as `come`, each list with at most `MOST_NAMED` lines.

    `more_go` and `more_come` are the numbers of further removed and added lines. If only the order of the lines
    differs, the lists are empty.
    """
    goes, comes = _without(before, after), _without(after, before)
    return {
        "go": [_text(line) for line in goes[:MOST_NAMED]],
        "come": [_text(line) for line in comes[:MOST_NAMED]],
        "more_go": max(0, len(goes) - MOST_NAMED),
        "more_come": max(0, len(comes) - MOST_NAMED),
    }


def _without(lines: Iterable[Line], others: Iterable[Line]) -> list[Line]:
    left, found = Counter(others), list[Line]()
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            found.append(line)
    return found


def _text(line: Line) -> str:
    return short_cell(", ".join(cell for cell in line if cell))
