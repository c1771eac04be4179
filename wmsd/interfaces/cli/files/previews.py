"""The output of an import's preview, and sentences about a file to import."""

from pathlib import Path
from typing import Any

import click

from wmsd.base.decimal_marks import MARKS
from wmsd.base.plurals import count_of
from wmsd.contract.bulk_imports import Alike
from wmsd.imports.csv_rows import NO_ROWS, Form, Unreadable
from wmsd.imports.encodings import Sample, WrongEncoding
from wmsd.imports.errors import FirstErrors, short_cell
from wmsd.imports.file_form import Guess
from wmsd.imports.preview import Preview, evidence_of, form_in_words, in_all
from wmsd.interfaces.cli.kit.command_line import fail, note, say

MOST_ERRORS_SHOWN = 50


def how_to_choose(error: Unreadable) -> str:
    """Return a sentence with the --encoding options that can read the file, or "" if there are none."""
    others = error.others if isinstance(error, WrongEncoding) else []
    return f" Use {' or '.join(f'--encoding {each}' for each in others)}." if others else ""


def form_read(form: Form, sample: Sample | None, evidence: str | None) -> str:
    """Return a sentence that says how the file was read.

    If the encoding was guessed, the sentence quotes a cell, so that the user can see if the guess is right.
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
    instead = f"use {others}" if others else "save the file as CSV UTF-8"
    return f"Row {sample.line} has {_quoted(sample.cell)}. If this text is wrong, {instead}."


def _quoted(cell: str) -> str:
    return f'"{" ".join(cell.split())}"'


def note_similar_codes(alike: list[Alike]) -> None:
    """Print a warning for each pair of codes that look alike. The codes may be intended, so this is no error."""
    for each in alike:
        where = ", which is there already" if each.other_line is None else f" in row {each.other_line}"
        note(
            f"Warning: row {each.line}, code: {each.code} is not the same record as {each.other}{where}. The "
            f"codes differ in {each.differ_in}."
        )
    if (more := in_all(alike) - len(alike)) > 0:
        note(f"Warning: {more} more codes are similar to other codes.")


def note_end(has_rows: bool, alike: list[Alike], changes_nothing: str | None) -> None:
    """Print the notes at the end of an import: about a file without rows, about similar codes, and about a run
    that changed nothing.

    `has_rows` is False for a file without rows. `changes_nothing` is "dry run" or "preview", or None for an import
    that changes records.
    """
    if not has_rows:
        note(NO_ROWS)
    note_similar_codes(alike)
    if changes_nothing is not None:
        note(f"Nothing was changed: this was a {changes_nothing}.")


def first_of(errors: FirstErrors, errors_file: Path | None) -> list[str]:
    """Return the first errors as sentences. If there are more errors, the last sentence says where to
    find them.
    """
    sentences = [each.text for each in errors.first[:MOST_ERRORS_SHOWN]]
    if (more := errors.in_all - len(sentences)) > 0:
        them = f"the first {len(errors.first)}" if errors.more else "all of them"
        where = f"--errors FILE.csv writes {them}" if errors_file is None else f"{them} are in {errors_file}"
        sentences.append(f"… and {more} more: {where}.")
    return sentences


def question_sentences(guessed: Guess, errors: FirstErrors, errors_file: Path | None) -> list[str]:
    """Return the question about the decimal mark, and the errors that do not depend on the answer.

    If there is an errors file, the last sentence says what the file contains.
    """
    sentences = [_refusal(guessed)]
    if errors.in_all:
        sentences += ["These errors do not depend on the decimal mark:", *first_of(errors, errors_file)]
    if errors_file is not None:
        asked = len(guessed.questions)
        cells = "the cell in question" if asked == 1 else f"the first {asked} cells in question"
        all_of = f" and {count_of(len(errors.first), 'error')}" if errors.in_all else ""
        sentences.append(f"{errors_file} lists {cells}{all_of}.")
    return sentences


def _refusal(guessed: Guess) -> str:
    """Return the question about the decimal mark, with the two options that can answer it.

    If a cell of the file suggests a decimal mark, the option for this mark comes first.
    """
    is_shown = guessed.evidence is not None
    first, second = sorted(MARKS, key=lambda mark: is_shown and mark != guessed.form.decimal)
    return f"{guessed.question} Use --decimal {first} or --decimal {second}."


def show(found: Preview, as_json: bool, errors_file: Path | None = None) -> None:
    if as_json:
        say(found.as_json(), as_json)
        return
    if found.unreadable is not None:
        fail([f"{found.unreadable}{how_to_choose(found.unreadable)}"])
    guessed = found.guess
    assert guessed is not None
    if guessed.sample is not None:
        note(_of_sample(guessed.sample))
    form, evidence = form_in_words(guessed.form), evidence_of(guessed)
    if guessed.questions:
        say({**form, "decimal": "to be chosen"}, as_json)
        fail(question_sentences(guessed, found.errors, errors_file))
    say({**form, **({} if evidence is None else {"shown by": evidence})}, as_json)
    click.echo()
    say([_in_words(each) for each in found.rows], as_json, "There are no rows.")
    click.echo()
    if found.errors.in_all:
        fail(first_of(found.errors, errors_file))
    say(found.counts or {}, as_json)
    note_end(found.has_rows, found.alike, "preview")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    cells = []
    for each in row["cells"]:
        name, before, after = each["column"], each["before"], each["after"]
        if row["what"] == "new" and after:
            cells.append(f"{name}: {short_cell(after)}")
        elif before is not None and before != after:
            cells.append(f"{name}: {short_cell(before) or '-'} → {short_cell(after) or '-'}")
    if "lines" in row:
        cells.append(f"lines: {_lines_in_words(row['lines'])}")
    return {"row": row["row"], "what": row["what"], "cells": ", ".join(cells) or "-"}


def _lines_in_words(lines: dict[str, Any]) -> str:
    """Return a text with the removed lines (-) and the added lines (+) of a document."""
    parts = []
    for sign, named, more in (("-", lines["go"], lines["more_go"]), ("+", lines["come"], lines["more_come"])):
        parts += [f"{sign} {each}" for each in named]
        parts += [f"{sign} {more} more"] if more else []
    return "; ".join(parts) or "same lines in another order"
