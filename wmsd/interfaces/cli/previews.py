"""Shows the preview of an import."""

from typing import Any

import click

from wmsd.app.csv_rows import Unreadable
from wmsd.app.csv_transfer import DryRun
from wmsd.app.imports.encodings import WrongEncoding
from wmsd.app.imports.preview import Preview, form_in_words, shortened
from wmsd.interfaces.cli.command_line import fail, note, say

__all__ = ["DryRun", "show"]
MOST_ERRORS_SHOWN = 50


def how_to_choose(error: Unreadable) -> str:
    """The options that would read the file."""
    others = error.others if isinstance(error, WrongEncoding) else []
    return f" Say {' or '.join(f'--encoding {each}' for each in others)}." if others else ""


def show(found: Preview, as_json: bool) -> None:
    if as_json:
        say(found.as_json(), as_json)
        return
    if found.unreadable is not None:
        fail([found.unreadable])
    assert found.form is not None
    form = form_in_words(found.form)
    if found.question is not None:
        say({**form, "decimal": "to be chosen"}, as_json)
        fail([f"{found.question} Say --decimal point or --decimal comma."])
    say({**form, **({} if found.evidence is None else {"shown by": found.evidence})}, as_json)
    click.echo()
    say([_in_words(each) for each in found.rows], as_json, "There are no rows.")
    click.echo()
    if found.errors:
        more = len(found.errors) - MOST_ERRORS_SHOWN
        fail(
            [
                *(each.text for each in found.errors[:MOST_ERRORS_SHOWN]),
                *([f"… and {more} more."] if more > 0 else []),
            ]
        )
    say(found.counts or {}, as_json)
    note("Nothing was changed: this was a preview.")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    cells = []
    for each in row["cells"]:
        name, before, after = each["column"], each["before"], each["after"]
        if row["what"] == "new" and after:
            cells.append(f"{name}: {shortened(after)}")
        elif before is not None and before != after:
            cells.append(f"{name}: {shortened(before) or '-'} → {shortened(after) or '-'}")
    return {"row": row["row"], "what": row["what"], "cells": ", ".join(cells) or "-"}
