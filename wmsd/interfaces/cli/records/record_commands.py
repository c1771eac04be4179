"""The commands of records that people name by a code, `list`, `show`, `create` and `change`, made from the
declarations of their operations. Those of documents have the first two as well.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import FIELD, CommandLine, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import (
    company_option,
    options_of,
    paging_options,
    read_company,
    say_page,
)
from wmsd.interfaces.cli.kit.field_options import values_of_options
from wmsd.interfaces.cli.kit.record_changes import change_record, create_record
from wmsd.interfaces.cli.kit.record_kind import SORT, RecordCommands, RecordKind, Rows
from wmsd.interfaces.cli.kit.references import with_codes


def add_command(
    group: click.Group, name: str, does: str, action: Callable[..., None], *options: Callable[[Any], Any]
) -> None:
    command = options_of(*options, json_option)(with_installation(action))
    group.command(name, help=does)(command)


def group_of_kind(kind: RecordKind, does: str, shows: str) -> click.Group:
    """A group with the commands `list` and `show`."""
    group = click.Group(help=does)
    add_command(
        group,
        "list",
        f"List a company's {kind.noun}s.",
        partial(_list, kind=kind),
        company_option,
        *(each.decorator() for each in kind.filters),
        *paging_options,
    )
    named = click.argument("named", metavar=kind.argument)
    add_command(group, "show", shows, partial(_show, kind=kind), named, company_option)
    return group


def record_command(kind: RecordCommands) -> click.Group:
    noun, argument = kind.noun, kind.argument
    article = "an" if noun[0] in "aeiou" else "a"
    group = group_of_kind(
        kind,
        f"List, show, make and change {noun}s.",
        f"Show the {noun} with the code {argument}, or with an id, such as id:7.",
    )
    add_command(
        group,
        "create",
        f"Make {article} {noun} with the code CODE. A field that is not given has its default.",
        partial(create_record, kind=kind),
        click.argument(f"{FIELD}code", metavar="CODE"),
        company_option,
        *(each.decorator() for each in kind.fields if each.path != "code"),
    )
    add_command(
        group,
        "change",
        f"Change the {noun} with the code {argument}, or an id such as id:7, and show what was before and "
        'after. A field that is not given stays as it is; an empty text, such as "", clears an optional field.',
        partial(change_record, kind=kind),
        click.argument("named", metavar=argument),
        company_option,
        *(each.decorator() for each in kind.changes),
    )
    return group


def _list(
    command_line: CommandLine,
    /,
    *,
    kind: RecordKind,
    code: str,
    page: int,
    per_page: int,
    as_json: bool,
    **given: Any,
) -> None:
    filters, _ = values_of_options(kind.filters, given)

    def read(tx: Transaction) -> tuple[Rows, int]:
        query: dict[str, object] = {**filters, "page": page, "per_page": per_page}
        for field in kind.references.keys() & filters.keys():
            query[field] = kind.references[field].id_of(tx, str(filters[field]), code)
        assert kind.list.query is not None
        found = kind.list.action(tx, validate_model(kind.list.query, query))
        return kind.rows(tx, json.loads(f"[{found.records}]"), as_json), found.total

    rows, total = read_company(command_line, code, read)
    is_filtered = not filters.keys() <= {SORT}
    say_page(rows, total, page, as_json, f"No such {kind.noun}." if is_filtered else f"No {kind.noun} yet.")


def _show(command_line: CommandLine, /, *, kind: RecordKind, named: str, code: str, as_json: bool) -> None:
    def read(tx: Transaction) -> list[Any]:
        found = json.loads(kind.get.action(tx, kind.find(tx, named, code)).json)
        if as_json:
            return [found]
        tables = [with_codes(tx, kind.references, found.pop(name)) for name in kind.tables]
        return [*with_codes(tx, kind.references, [found]), *tables]

    first, *tables = read_company(command_line, code, read)
    say(first, as_json)
    for table in tables:
        click.echo()
        say(table, as_json)
