"""The preview of an import: the detected format of the file, the changes, and all errors."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import field, replace
from typing import IO, Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import OTHER
from wmsd.contract.bulk_imports import Alike, CellError, Errors, ImportRefused, Outcome, Row, Watch
from wmsd.db.engine.staging import Staging
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.csv_rows import Form, Header, Unreadable, read_header, read_rows
from wmsd.imports.current_values import CURRENT, as_cell
from wmsd.imports.encodings import Sample
from wmsd.imports.errors import (
    FirstErrors,
    Wrong,
    cells_to_ask,
    in_both,
    of_file,
    short_cell,
    with_cells,
    with_similar_codes,
)
from wmsd.imports.file_form import DELIMITER_NAMES, ENCODINGS, Chosen, Guess, guess, lines_of, rows_of
from wmsd.imports.file_kinds import KINDS, Kind, import_beside
from wmsd.imports.line_changes import first_rows, line_changes

MOST_ROWS: Final = 20
MOST_SHOWN: Final = 200
"""The most errors that a preview shows in the browser. `errors.csv` contains all errors that are stored."""


@dataclass(slots=True)
class Preview:
    kind: str
    guess: Guess | None = None
    header: Header | None = None
    unreadable: Unreadable | None = None
    counts: dict[str, int] | None = None
    """The numbers of records that the import creates, updates or leaves unchanged. None if the file cannot be
    imported.
    """
    rows: list[dict[str, Any]] = field(default_factory=list)
    errors: FirstErrors = FirstErrors()
    alike: list[Alike] = field(default_factory=list)

    @property
    def has_rows(self) -> bool:
        return self.counts is None or any(self.counts.values())

    @property
    def wrong(self) -> list[Wrong]:
        """The errors that users see. They concern cells that leave the decimal mark unclear, rows, and the file as
        a whole.
        """
        asked = [] if self.guess is None else cells_to_ask(self.guess)
        return [*asked, *self.errors.first, *([] if self.unreadable is None else of_file(self.unreadable))]

    def as_json(self) -> dict[str, Any]:
        """Return the preview as JSON, with at most `MOST_SHOWN` errors."""
        guess, unreadable = self.guess, self.unreadable
        return {
            "kind": self.kind,
            "form": None if guess is None else form_in_words(guess.form),
            "evidence": None if guess is None else evidence_of(guess),
            "sample": None if guess is None or guess.sample is None else _sample(guess.sample),
            "columns": [] if self.header is None else _columns(self.header),
            "missing": [] if self.header is None else list(self.header.missing),
            "question": None if guess is None else guess.question,
            "unreadable": None if unreadable is None else str(unreadable),
            "reasons": [] if unreadable is None else list(unreadable.sentences),
            "counts": self.counts,
            "rows": self.rows,
            "errors": [each.as_json() for each in self.errors.first[:MOST_SHOWN]],
            "errors_kept": len(self.errors.first),
            "errors_in_all": self.errors.in_all,
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


def _columns(header: Header) -> list[dict[str, Any]]:
    return [
        {"name": short_cell(name), "is_known": name not in header.unknown, "near": header.unknown.get(name)}
        for name in header.names
    ]


def preview(
    staging: Staging,
    kind_name: str,
    file: IO[bytes],
    chosen: Chosen,
    watch: Watch | None = None,
    **options: object,
) -> Preview:
    """Return the preview of the import of a file. No record is changed. `options` are the options of the kind."""
    kind, found = KINDS[kind_name], Preview(kind_name)
    try:
        found.guess = guessed = guess(file, kind.columns, chosen)
        found.header = _header(kind, file, guessed.form)
        _try(staging, kind, file, guessed, found, watch, options)
        if found.header.is_right:
            first, rest = _first_rows(kind_name, file, guessed.form)
            columns = found.header.names
            found.rows = staging.check(lambda tx: _compared_rows(tx, kind_name, columns, first, rest))
            _mark_wrong(found)
    except Unreadable as error:
        found.unreadable = error
    return found


def evidence_of(guessed: Guess) -> str | None:
    """Return a text with the cell that shows the decimal mark, such as `row 2, quantity: 1.5`. Return None if the
    mark was not detected.
    """
    cell = guessed.evidence
    return None if cell is None else f"row {cell.line}, {cell.column}: {short_cell(cell.text)}"


def _header(kind: Kind, file: IO[bytes], form: Form) -> Header:
    with rows_of(file, form) as rows:
        first = next(rows, None)
    return read_header(kind.columns, kind.required, first.cells if first else [], kind.of_lines)


def _try(
    staging: Staging,
    kind: Kind,
    file: IO[bytes],
    guessed: Guess,
    found: Preview,
    watch: Watch | None,
    options: dict[str, Any],
) -> None:
    if guessed.questions:
        found.errors = errors_anyway(staging, kind, file, guessed.form, watch, options)
        return
    outcome = _tried(staging, kind, file, guessed.form, watch, options)
    found.errors = errors_for_people(staging, kind, file, guessed.form, outcome.errors)
    if not found.errors.in_all:
        found.counts, found.alike = counts_of(outcome), outcome.alike


def _tried(
    staging: Staging, kind: Kind, file: IO[bytes], form: Form, watch: Watch | None, options: dict[str, Any]
) -> Outcome:
    """Return the outcome of a trial run of the import, with all errors. No record is changed."""
    try:
        with closing(lines_of(file, form.encoding)) as texts:
            return import_beside(staging, kind, texts, True, watch, form, outcome=Outcome(), **options)
    except ImportRefused as refused:
        return refused.outcome


def errors_anyway(
    staging: Staging, kind: Kind, file: IO[bytes], form: Form, watch: Watch | None, options: dict[str, Any]
) -> FirstErrors:
    """Return the errors of a file whose decimal mark is not known yet: the errors that occur with both marks.

    Do a trial run with each mark. It is not enough to check the numbers, because a quantity also decides whether
    the serials of its row are valid.
    """
    errors = _tried(staging, kind, file, form, watch, options).errors
    if errors:
        staging.start_again()
        other = replace(form, decimal=OTHER[form.decimal])
        others = _tried(staging, kind, file, other, None, options).errors
        return _preview(staging, kind, file, form, *in_both(errors, others))
    return FirstErrors()


def errors_for_people(staging: Staging, kind: Kind, file: IO[bytes], form: Form, errors: Errors) -> FirstErrors:
    """Return the errors as users see them: with their cells, and with similar known codes."""
    return _preview(staging, kind, file, form, errors.first, errors.in_all)


def _preview(
    staging: Staging, kind: Kind, file: IO[bytes], form: Form, first: Iterable[CellError], in_all: int
) -> FirstErrors:
    wrong = with_cells(file, kind.columns, form, first)
    return FirstErrors(staging.check(lambda tx: with_similar_codes(tx, wrong)), in_all)


def counts_of(outcome: Outcome) -> dict[str, int]:
    return {"created": outcome.created, "updated": outcome.updated, "unchanged": outcome.unchanged}


def _first_rows(kind_name: str, file: IO[bytes], form: Form) -> tuple[list[Row], list[Row]]:
    kind = KINDS[kind_name]
    with closing(lines_of(file, form.encoding)) as texts:
        rows = read_rows(kind.columns, kind.required, texts, Outcome(), form, kind.of_lines)
        return first_rows(kind_name, rows, MOST_ROWS)


def _compared_rows(
    tx: Transaction, kind_name: str, columns: Iterable[str], first: list[Row], rest: list[Row]
) -> list[dict[str, Any]]:
    """Compare the rows in `first` with the current records, and return the result for each row (see `_compared`).

    `rest` are further rows of the last document in `first`. If the import changes the lines of a document, the
    result for the document's first row has `lines`: the removed and added lines.
    """
    changes = line_changes(tx, kind_name, [*first, *rest])
    found = [_compared(tx, kind_name, columns, row) for row in first]
    for each in found:
        if each["row"] in changes:
            each["what"] = "changed"
            each |= {"lines": changes[each["row"]]} if changes[each["row"]] else {}
    return found


def _compared(tx: Transaction, kind_name: str, columns: Iterable[str], row: Row) -> dict[str, Any]:
    """Compare a row with the current record. Return a dict with the row number `row`, each cell before and after
    the import (`cells`), and `what`: "new", "changed" or "same".

    If the row has no value for a column, the current value stays.
    """
    current = CURRENT[kind_name](tx, row.values)
    shown: list[dict[str, Any]] = []
    differs = False
    for column in columns:
        before = None if current is None or column not in current else as_cell(current[column])
        after = as_cell(row.values[column]) if column in row.values else before or ""
        differs = differs or before not in (None, after)
        short = None if before is None else short_cell(before)
        shown.append({"column": column, "before": short, "after": short_cell(after)})
    what = "new" if current is None else "changed" if differs else "same"
    return {"row": row.line, "what": what, "cells": shown}


def _mark_wrong(found: Preview) -> None:
    """Mark rows with errors as wrong, because they would not be imported."""
    wrong = {each.line for each in found.errors.first}
    for row in found.rows:
        if row["row"] in wrong:
            row["what"] = "wrong"
