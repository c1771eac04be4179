"""The commands of records that people name by a code, `list`, `show`, `create` and `change`, made from the
declarations of their operations.
"""

import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click

from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, cell_text, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import (
    company_option,
    options_of,
    paging_options,
    read_company,
    say_page,
)
from wmsd.interfaces.cli.kit.field_options import values_of_options
from wmsd.interfaces.cli.kit.record_changes import change_record, create_record
from wmsd.interfaces.cli.kit.record_kind import SORT, RecordCommands, Row, named_by_options, with_codes

NARROWEST: Final = 80
BETWEEN: Final = 2
LEAST: Final = 8
"""The characters that stay of the widest column, whatever the others take."""


def fitted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the longest texts cut, except in the first column, which names the record."""
    if not rows:
        return rows
    widest = shutil.get_terminal_size().columns if sys.stdout.isatty() else NARROWEST
    table = [{name: cell_text(value) for name, value in row.items()} for row in rows]
    others = list(table[0])[1:]
    widths = {name: max(len(name), *(len(row[name]) for row in table)) for name in table[0]}
    for _ in others:
        over = sum(widths.values()) + BETWEEN * len(others) - max(widest, NARROWEST)
        longest = max(others, key=lambda name: widths[name])
        if over <= 0 or widths[longest] <= LEAST:
            break
        widths[longest] = max(LEAST, len(longest), widths[longest] - over)
    return [{name: _cut(text, widths[name]) for name, text in row.items()} for row in table]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def record_command(kind: RecordCommands) -> click.Group:
    noun = kind.noun
    article = "an" if noun[0] in "aeiou" else "a"
    group = click.Group(help=f"List, show, make and change {noun}s.")

    def add(name: str, does: str, action: Callable[..., None], *options: Callable[[Any], Any]) -> None:
        command = options_of(*options, json_option)(with_installation(partial(action, kind=kind)))
        group.command(name, help=does)(command)

    named = click.argument("named", metavar=noun.upper())
    add(
        "list",
        f"List a company's {noun}s.",
        _list,
        company_option,
        *(each.decorator() for each in kind.filters),
        *paging_options,
    )
    add(
        "show",
        f"Show the {noun} with the code {noun.upper()}, or with an id, such as id:7.",
        _show,
        named,
        company_option,
    )
    add(
        "create",
        f"Make {article} {noun} with the code CODE. A field that is not given has its default.",
        create_record,
        click.argument("record_code", metavar="CODE"),
        company_option,
        *(each.decorator() for each in kind.fields if each.path != "code"),
    )
    add(
        "change",
        f"Change the {noun} with the code {noun.upper()}, or an id such as id:7, and show what was before and "
        'after. A field that is not given stays as it is; an empty text, such as "", clears an optional field.',
        change_record,
        named,
        company_option,
        *(each.decorator() for each in kind.changes),
    )
    return group


def _list(
    command_line: CommandLine,
    /,
    *,
    kind: RecordCommands,
    code: str,
    page: int,
    per_page: int,
    as_json: bool,
    **given: Any,
) -> None:
    filters, _ = values_of_options(kind.filters, given)
    assert kind.list.query is not None
    with named_by_options(kind.filters):
        query: Any = validate_model(kind.list.query, {**filters, "page": page, "per_page": per_page})

    def read(tx: Transaction) -> tuple[list[Row], int]:
        found = kind.list.action(tx, query)
        records: list[Row] = json.loads(f"[{found.records}]")
        return (records if as_json else [_row(tx, kind, each) for each in records]), found.total

    rows, total = read_company(command_line, code, read)
    is_filtered = not filters.keys() <= {SORT}
    empty = f"No such {kind.noun}." if is_filtered else f"No {kind.noun} yet."
    say_page(rows if as_json else fitted(rows), total, page, as_json, empty)


def _row(tx: Transaction, kind: RecordCommands, record: Row) -> Row:
    shown = with_codes(tx, record)
    return {name: shown[name] for name in kind.listed}


def _show(command_line: CommandLine, /, *, kind: RecordCommands, named: str, code: str, as_json: bool) -> None:
    def read(tx: Transaction) -> Row:
        found: Row = json.loads(kind.get.action(tx, kind.find(tx, named, code)).json)
        return found if as_json else with_codes(tx, found)

    say(read_company(command_line, code, read), as_json)
