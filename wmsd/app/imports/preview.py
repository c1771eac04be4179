"""What an import would do: what was understood of the file, what would change, and everything that is wrong."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import islice
from typing import IO, Any, Final, TextIO

from wmsd.app.csv_rows import Form, Header, Unreadable, read_header, read_rows, split
from wmsd.app.csv_transfer import KINDS, DryRun, Kind, import_beside
from wmsd.app.imports.current import CURRENT, as_cell
from wmsd.app.imports.encodings import WrongEncoding
from wmsd.app.imports.guessing import DELIMITER_NAMES, ENCODINGS, Chosen, Guess, guess, lines_of
from wmsd.app.imports.samples import Sample
from wmsd.base import cells
from wmsd.base.dataclass import dataclass
from wmsd.base.importing import Alike, CellError, ImportRefused, Outcome, Row, Watch
from wmsd.db.staging import Staging
from wmsd.db.transaction import Transaction

MOST_ROWS: Final = 20
MOST_ERRORS: Final = 200
LONGEST_CELL: Final = 200
CHOOSE: Final = "waits for a choice: is the decimal mark of the file a point or a comma"


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error, with the cell that it is about as it stands in the file."""

    line: int
    column: str
    cell: str | None
    sentence: str

    @property
    def where(self) -> str:
        row = f"row {self.line}" if self.line else ""
        return ", ".join(part for part in (row, self.column) if part)

    @property
    def text(self) -> str:
        """The whole sentence for people."""
        quoted = "" if not self.cell else f' The cell has "{shortened(self.cell)}".'
        return f"{self.where}: {self.sentence}.{quoted}"


def shortened(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"


@dataclass(slots=True)
class Preview:
    kind: str
    form: Form | None = None
    header: Header | None = None
    question: str | None = None
    evidence: str | None = None
    sample: Sample | None = None
    unreadable: str | None = None
    reasons: tuple[str, ...] = ()
    """The sentences of `unreadable`."""
    encodings: tuple[str, ...] = ()
    """Those that would read a file that is unreadable as it was understood."""
    counts: dict[str, int] | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Wrong] = field(default_factory=list)
    asked: list[Wrong] = field(default_factory=list)
    """What the question is about."""
    alike: list[Alike] = field(default_factory=list)

    @property
    def can_be_imported(self) -> bool:
        return self.counts is not None

    def as_json(self) -> dict[str, Any]:
        """With the first errors only."""
        return {
            "kind": self.kind,
            "form": None if self.form is None else form_in_words(self.form),
            "evidence": self.evidence,
            "sample": None if self.sample is None else _sample(self.sample),
            "columns": [] if self.header is None else list(_columns(self.header)),
            "missing": [] if self.header is None else list(self.header.missing),
            "question": self.question,
            "unreadable": self.unreadable,
            "reasons": list(self.reasons),
            "counts": self.counts,
            "rows": self.rows,
            "errors": [
                {"row": each.line or None, "column": each.column, "cell": each.cell, "message": each.sentence}
                for each in self.errors[:MOST_ERRORS]
            ],
            "errors_in_all": len(self.errors),
            "alike": [
                {"row": each.line, "code": each.code, "other": each.other, "other_row": each.other_line}
                for each in self.alike
            ],
            "alike_in_all": in_all(self.alike),
        }


def _sample(sample: Sample) -> dict[str, Any]:
    others = [{"encoding": ENCODINGS[each], "cell": cell} for each, cell in sample.others.items()]
    return {"row": sample.line, "cell": sample.cell, "others": others}


def in_all(alike: list[Alike]) -> int:
    return alike[0].in_all if alike else 0


def form_in_words(form: Form) -> dict[str, str]:
    return {
        "encoding": ENCODINGS.get(form.encoding, "UTF-16" if "16" in form.encoding else "UTF-8"),
        "delimiter": DELIMITER_NAMES[form.delimiter or ","],
        "decimal": form.decimal,
    }


def _columns(header: Header) -> Iterator[dict[str, Any]]:
    for name in header.names:
        yield {"name": name, "is_known": name not in header.unknown, "near": header.unknown.get(name)}


def preview(
    staging: Staging,
    kind_name: str,
    file: IO[bytes],
    chosen: Chosen,
    watch: Watch | None = None,
    **options: object,
) -> Preview:
    """Changes nothing."""
    kind, found = KINDS[kind_name], Preview(kind_name)
    try:
        guessed = guess(file, kind.columns, chosen)
        found.form, found.question, found.asked = guessed.form, guessed.question, asked(guessed)
        found.evidence, found.sample = evidence_of(guessed), guessed.sample
        found.header = _header(kind, file, guessed.form)
        if found.question is None:
            _try(staging, kind, file, found, watch, options)
        if found.header.is_right:
            first, columns = _first_rows(kind, file, guessed.form), found.header.names
            found.rows = staging.check(lambda tx: [_compared(tx, kind_name, columns, row) for row in first])
            _mark_wrong(found)
    except Unreadable as error:
        found.unreadable, found.reasons = str(error), error.sentences
        found.encodings = tuple(error.others) if isinstance(error, WrongEncoding) else ()
    return found


def evidence_of(guessed: Guess) -> str | None:
    """Which cell shows the decimal mark."""
    cell = guessed.evidence
    return None if cell is None else f"row {cell.line}, {cell.column}: {shortened(cell.text)}"


def _header(kind: Kind, file: IO[bytes], form: Form) -> Header:
    texts = lines_of(file, form.encoding)
    try:
        first = next(split(texts, form.delimiter), None)
    finally:
        texts.close()
    return read_header(kind.columns, kind.required, first.cells if first else [])


def _try(
    staging: Staging, kind: Kind, file: IO[bytes], found: Preview, watch: Watch | None, options: dict[str, Any]
) -> None:
    assert found.form is not None
    texts = lines_of(file, found.form.encoding)
    try:
        outcome = import_beside(staging, kind, texts, True, watch, found.form, None, **options)
    except DryRun as dry:
        outcome = dry.outcome
    except ImportRefused as refused:
        found.errors = with_cells(file, found.form, refused.outcome.errors)
        return
    finally:
        texts.close()
    found.counts, found.alike = counts_of(outcome), outcome.alike


def counts_of(outcome: Outcome) -> dict[str, int]:
    return {"created": outcome.created, "updated": outcome.updated, "unchanged": outcome.unchanged}


def _first_rows(kind: Kind, file: IO[bytes], form: Form) -> list[Row]:
    texts = lines_of(file, form.encoding)
    try:
        return list(islice(read_rows(kind.columns, kind.required, texts, Outcome(), form), MOST_ROWS))
    finally:
        texts.close()


def _compared(tx: Transaction, kind_name: str, columns: Iterable[str], row: Row) -> dict[str, Any]:
    """What the row would do, and the cell of each column before and after. An empty cell of a column that cannot
    be empty has no value: what is there stays.
    """
    current = CURRENT[kind_name](tx, row.values)
    shown: list[dict[str, Any]] = []
    for column in columns:
        before = None if current is None or column not in current else as_cell(current[column])
        after = as_cell(row.values[column]) if column in row.values else before or ""
        shown.append({"column": column, "before": before, "after": after})
    differs = any(each["before"] not in (None, each["after"]) for each in shown)
    what = "new" if current is None else "changed" if differs else "same"
    return {"row": row.line, "what": what, "cells": shown}


def _mark_wrong(found: Preview) -> None:
    """Of a row with errors nothing happens, whatever is there now."""
    wrong = {each.line for each in found.errors}
    for row in found.rows:
        if row["row"] in wrong:
            row["what"] = "wrong"


def with_cells(file: IO[bytes], form: Form, errors: Iterable[CellError]) -> list[Wrong]:
    """The errors with their cells, which are read again from the file."""
    errors = list(errors)
    wanted = {error.line for error in errors}
    lines: dict[int, list[str]] = {}
    names: list[str] = []
    texts = lines_of(file, form.encoding)
    try:
        for row in split(texts, form.delimiter):
            if not names:
                names = [name.strip() for name in row.cells]
            elif row.number in wanted:
                lines[row.number] = row.cells
    except Unreadable:
        pass  # said already
    finally:
        texts.close()
    return [
        Wrong(each.line, each.column, _cell(names, lines.get(each.line), each), each.sentence) for each in errors
    ]


def _cell(names: list[str], row: list[str] | None, error: CellError) -> str | None:
    """A part of a list, such as `barcodes.1`, is in the cell of the list."""
    name = error.column
    while name and name not in names:
        name = name.rpartition(".")[0]
    if not name or row is None or len(row) != len(names):
        return None
    return row[names.index(name)]


def asked(guessed: Guess) -> list[Wrong]:
    """The cells that wait for a choice of the decimal mark: the first few."""
    return [Wrong(each.line, each.column, each.text, CHOOSE) for each in guessed.questions]


def write_errors(errors: Iterable[Wrong], file: TextIO) -> None:
    """All errors as CSV. A spreadsheet runs none of it as a formula."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row", "column", "cell", "message"])
    for each in errors:
        row = [each.line or "", each.column, each.cell or "", each.sentence]
        writer.writerow([cells.write(value) for value in row])
