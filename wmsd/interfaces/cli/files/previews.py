"""Shows the preview of an import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wmsd.base.decimal_marks import MARKS, Mark
from wmsd.base.plurals import count_of
from wmsd.contract.bulk_imports import Alike
from wmsd.imports.csv_rows import NO_ROWS, Form, Unreadable
from wmsd.imports.encoding_samples import Sample
from wmsd.imports.encodings import WrongEncoding
from wmsd.imports.errors import Told, Wrong, short_cell
from wmsd.imports.file_kinds import DryRun
from wmsd.imports.preview import Preview, form_in_words, in_all
from wmsd.interfaces.cli.kit.command_line import fail, note, say

__all__ = ["DryRun", "show"]
MOST_ERRORS_SHOWN = 50


def how_to_choose(error: Unreadable) -> str:
    """The options that would read the file."""
    return _options(error.others) if isinstance(error, WrongEncoding) else ""


def _options(encodings: Sequence[str]) -> str:
    return f" Say {' or '.join(f'--encoding {each}' for each in encodings)}." if encodings else ""


def form_read(form: Form, sample: Sample | None, evidence: str | None) -> str:
    """How the file was read. Where its encoding is a guess, whoever knows the names sees by a cell whether it is
    right.
    """
    words = form_in_words(form)
    because = "" if evidence is None else f" ({evidence})"
    read = (
        f"Read as {words['encoding']}, with a {words['delimiter']} between cells and a decimal "
        f"{words['decimal']}{because}."
    )
    return read if sample is None else f"{read} {_of_sample(sample)}"


def _of_sample(sample: Sample) -> str:
    others = " or ".join(f"--encoding {each} ({_quoted(cell)})" for each, cell in sample.others.items())
    instead = f"say {others}" if others else "save the file as CSV UTF-8"
    return f"Row {sample.line} has {_quoted(sample.cell)}. If that is wrong, {instead}."


def _quoted(cell: str) -> str:
    return f'"{" ".join(cell.split())}"'


def note_similar_codes(alike: list[Alike]) -> None:
    """Codes that look alike: a warning, for they may be meant so."""
    for each in alike:
        where = ", which is there already" if each.other_line is None else f" in row {each.other_line}"
        note(
            f"Warning: row {each.line}, code: {each.code} is another record than {each.other}{where}. They differ "
            f"in {each.differ_in}."
        )
    if (more := in_all(alike) - len(alike)) > 0:
        note(f"Warning: there are {more} more such codes.")


def likely_first(evidence: object, shown: Mark) -> list[Mark]:
    """The decimal marks to choose from. `shown` is the one that a cell of the file shows, if there is such
    `evidence`.
    """
    return sorted(MARKS, key=lambda mark: evidence is not None and mark != shown)


def first_of(errors: Told, errors_file: Path | None) -> list[str]:
    """The first errors, and where the others are."""
    sentences = [each.text for each in errors.first[:MOST_ERRORS_SHOWN]]
    if (more := errors.in_all - len(sentences)) > 0:
        them = f"the first {len(errors.first)}" if errors.more else "all of them"
        where = f"--errors FILE.csv writes {them}" if errors_file is None else f"{them} are in {errors_file}"
        sentences.append(f"… and {more} more: {where}.")
    return sentences


def beside_question(asked: Sequence[Wrong], errors: Told, errors_file: Path | None) -> list[str]:
    """What to say after the question for the decimal mark: the errors that do not depend on it, and where they and
    the cells that are asked about are.
    """
    sentences = ["These errors do not depend on it:", *first_of(errors, errors_file)] if errors.in_all else []
    if errors_file is not None:
        cells = "the cell that is" if len(asked) == 1 else f"the first {len(asked)} cells that are"
        all_of = f" and {count_of(len(errors.first), 'error')}" if errors.in_all else ""
        sentences.append(f"{errors_file} has {cells} asked about{all_of}.")
    return sentences


def show(found: Preview, as_json: bool, errors_file: Path | None = None) -> None:
    if as_json:
        say(found.as_json(), as_json)
        return
    if found.unreadable is not None:
        fail([f"{found.unreadable}{_options(found.encodings)}"])
    assert found.form is not None
    if found.sample is not None:
        note(_of_sample(found.sample))
    form = form_in_words(found.form)
    if found.question is not None:
        say({**form, "decimal": "to be chosen"}, as_json)
        first, second = likely_first(found.evidence, found.form.decimal)
        beside = beside_question(found.asked, found.errors, errors_file)
        fail([f"{found.question} Say --decimal {first} or --decimal {second}.", *beside])
    say({**form, **({} if found.evidence is None else {"shown by": found.evidence})}, as_json)
    click.echo()
    say([_in_words(each) for each in found.rows], as_json, "There are no rows.")
    click.echo()
    if found.errors.in_all:
        fail(first_of(found.errors, errors_file))
    say(found.counts or {}, as_json)
    note_similar_codes(found.alike)
    if not found.has_rows:
        note(NO_ROWS)
    note("Nothing was changed: this was a preview.")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    cells = []
    for each in row["cells"]:
        name, before, after = each["column"], each["before"], each["after"]
        if row["what"] == "new" and after:
            cells.append(f"{name}: {short_cell(after)}")
        elif before is not None and before != after:
            cells.append(f"{name}: {short_cell(before) or '-'} → {short_cell(after) or '-'}")
    return {"row": row["row"], "what": row["what"], "cells": ", ".join(cells) or "-"}
