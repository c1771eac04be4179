"""Reads the rows of a CSV file, as programs and people write it."""

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pydantic.fields import FieldInfo

from wmsd.base import cells
from wmsd.base.importing import CellError, Outcome, Row

DELIMITERS: Final = (",", ";", "\t")
CSV_FIELD_LIMIT: Final = 1024 * 1024
Columns = Mapping[str, FieldInfo]


class Unreadable(Exception):
    """The file is no readable CSV; the sentence says where and why."""


def read_rows(
    columns: Columns, required: Iterable[str], lines: Iterable[bytes], outcome: Outcome
) -> Iterator[Row]:
    """The rows of a file. Cells that cannot be read are added to the errors of the outcome. Raises Unreadable."""
    texts = _decoded(lines)
    header = next(texts, "")
    delimiter = max(DELIMITERS, key=header.count)
    csv.field_size_limit(CSV_FIELD_LIMIT)
    reader = csv.reader(_chained(header, texts), delimiter=delimiter, strict=True)
    rows = ([cells.unguarded(cell) for cell in row] for row in reader)
    try:
        names = _named(columns, required, next(rows, []))
        readers = [(name, cells.reader(columns[name]), columns[name]) for name in names]
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


def _named(columns: Columns, required: Iterable[str], header: list[str]) -> list[str]:
    names = [name.strip() for name in header]
    if not any(names):
        raise Unreadable(f"the first line must name the columns: {', '.join(columns)}.")
    sentences = []
    for name in names:
        if name not in columns:
            near = difflib.get_close_matches(name, list(columns), n=1)
            hint = f"did you mean {near[0]}?" if near else f"the columns are {', '.join(columns)}."
            sentences.append(f"there is no column {name!r}; {hint}")
    sentences += [f"the column {name!r} is there twice." for name in sorted(set(names)) if names.count(name) > 1]
    sentences += [f"the column {name!r} is missing." for name in required if name not in names]
    if sentences:
        raise Unreadable(" ".join([sentences[0], *(each[0].upper() + each[1:] for each in sentences[1:])]))
    return names


def _values(
    readers: list[tuple[str, cells.ReadCell, FieldInfo]], row: list[str], line: int, outcome: Outcome
) -> dict[str, object] | None:
    """The row by column. A cell that cannot be read stays text, so that the row's other errors are found."""
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
