"""The commands of records that people name by a code, `list`, `show`, `create` and `change`, made from the
declarations of their operations.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import click

from wmsd.app.decoding import may_have_more, with_references
from wmsd.app.installation import Installation
from wmsd.app.record_audit import Entry, acted
from wmsd.app.record_audit import write as write_audit
from wmsd.base.fields import Input, Recorded
from wmsd.base.operation import Operation
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.results import Record
from wmsd.base.validation import check, well_formed
from wmsd.companies.store import differences
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.imports import laid_over, nested
from wmsd.interfaces.cli.acting import told_by_options
from wmsd.interfaces.cli.command_line import CommandLine, installed, json_option, note, say
from wmsd.interfaces.cli.company_data import (
    company_database,
    company_option,
    options_of,
    paging_options,
    say_page,
)
from wmsd.interfaces.cli.field_options import (
    NAMED_BY_CODE,
    FieldOption,
    given_values,
    options_of_fields,
    options_of_query,
)
from wmsd.interfaces.cli.fitting import fitted

Row = dict[str, Any]
Values = Mapping[str, object]
SORT: Final = "sort"


@dataclass(frozen=True)
class RecordCommands:
    """What the commands of a kind of record do: these operations. `listed` are the columns that people see."""

    noun: str
    id_of_code: Callable[[Transaction, str], int | None]
    list: Operation
    get: Operation
    create: Operation
    change: Operation
    listed: tuple[str, ...]

    @cached_property
    def fields(self) -> tuple[FieldOption, ...]:
        assert self.create.body is not None
        return options_of_fields(self.create.body)

    @cached_property
    def changes(self) -> tuple[FieldOption, ...]:
        assert self.change.body is not None
        return options_of_fields(self.change.body)

    @cached_property
    def filters(self) -> tuple[FieldOption, ...]:
        assert self.list.query is not None
        query: Any = self.list.query
        return options_of_query(query, [*query.filter_names(), SORT])

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """The id of the record with this code or, if none has it, with this id. Raises Problem (404)."""
        found = self.id_of_code(tx, named)
        if found is None and named.isascii() and named.isdecimal():
            try:
                self.get.action(tx, int(named))
                found = int(named)
            except (Problem, OverflowError):
                pass
        if found is None:
            sentence = f"There is no {self.noun} {named}: `wmsd {self.noun} list --company {company}` lists them."
            raise Problem("NOT_FOUND", sentence)
        return found


def record_command(kind: RecordCommands) -> click.Group:
    noun = kind.noun
    article = "an" if noun[0] in "aeiou" else "a"
    group = click.Group(help=f"List, show, make and change {noun}s.")

    def add(name: str, does: str, action: Callable[..., None], *options: Callable[[Any], Any]) -> None:
        command = options_of(*options, json_option)(installed(partial(action, kind=kind)))
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
    add("show", f"Show the {noun} with the code or the id {noun.upper()}.", _show, named, company_option)
    add(
        "create",
        f"Make {article} {noun} with the code CODE. A field that is not given has its default.",
        _create,
        click.argument("record_code", metavar="CODE"),
        company_option,
        *(each.decorator() for each in kind.fields if each.path != "code"),
    )
    add(
        "change",
        f"Change the {noun} with the code or the id {noun.upper()}, and show what was before and after. A field "
        'that is not given stays as it is; an empty text, such as "", clears an optional field.',
        _change,
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
    filters, _ = given_values(kind.filters, given)
    assert kind.list.query is not None
    with _options(kind.filters):
        query: Any = check(kind.list.query, {**filters, "page": page, "per_page": per_page})

    def read(tx: Transaction) -> tuple[list[Row], int]:
        found = kind.list.action(tx, query)
        records: list[Row] = json.loads(f"[{found.records}]")
        return (records if as_json else [_row(tx, kind, each) for each in records]), found.total

    async def work(installation: Installation) -> tuple[list[Row], int]:
        database = await company_database(installation, code)
        return await (database.search(read) if query.is_search else database.read(read))

    rows, total = command_line.run(work)
    is_filtered = not filters.keys() <= {SORT}
    empty = f"No such {kind.noun}." if is_filtered else f"No {kind.noun} yet."
    say_page(rows if as_json else fitted(rows), total, page, as_json, empty)


def _row(tx: Transaction, kind: RecordCommands, record: Row) -> Row:
    shown = _with_codes(tx, record)
    return {name: shown[name] for name in kind.listed}


def _with_codes(tx: Transaction, record: Row) -> Row:
    """The record for people: what it refers to by its code."""
    return {
        name.removesuffix("_id") if name in NAMED_BY_CODE else name: _code(tx, name, value)
        for name, value in record.items()
    }


def _code(tx: Transaction, name: str, value: Any) -> Any:
    if name not in NAMED_BY_CODE or value is None:
        return value
    found = directory.columns(tx, NAMED_BY_CODE[name], value)
    return value if found is None else found["code"]


def _show(command_line: CommandLine, /, *, kind: RecordCommands, named: str, code: str, as_json: bool) -> None:
    def read(tx: Transaction) -> Row:
        found: Row = json.loads(kind.get.action(tx, kind.find(tx, named, code)).json)
        return found if as_json else _with_codes(tx, found)

    async def work(installation: Installation) -> Row:
        return await (await company_database(installation, code)).read(read)

    say(command_line.run(work), as_json)


def _create(
    command_line: CommandLine, /, *, kind: RecordCommands, record_code: str, code: str, as_json: bool, **given: Any
) -> None:
    values, errors = given_values(kind.fields, given)
    values["code"] = record_code

    def write(tx: Transaction) -> tuple[Record, Entry | None]:
        body = _body(tx, kind.create, values, errors, {})
        return acted(tx, kind.create, code, {"body": body})

    with _options(kind.fields, {"code": "CODE"}):
        record = _written(command_line, code, write)
    made = json.loads(record.json)
    say(made if as_json else {"id": made["id"], "code": made["code"], "name": made["name"]}, as_json)


def _change(
    command_line: CommandLine, /, *, kind: RecordCommands, named: str, code: str, as_json: bool, **given: Any
) -> None:
    values, errors = given_values(kind.changes, given)
    if not values:
        raise click.UsageError("Nothing to change: give an option for each field that changes, such as --name.")
    shown: list[Row] = []

    def write(tx: Transaction) -> tuple[Record, Entry | None]:
        record_id = kind.find(tx, named, code)
        before = json.loads(kind.get.action(tx, record_id).json)
        body = _body(tx, kind.change, values, errors, {"id": record_id}, before)
        record, entry = acted(tx, kind.change, code, {"id": record_id, "body": body})
        after = json.loads(record.json)
        shown[:] = [before, after] if as_json else [_with_codes(tx, before), _with_codes(tx, after)]
        return record, entry

    with _options(kind.changes):
        _written(command_line, code, write)
    before, after = shown
    changed: dict[str, Any] = {
        name: each for name, each in differences(before, after).items() if name not in Recorded.READ_ONLY
    }
    if as_json:
        say({"id": after["id"], "code": after["code"], "changed": changed}, True)
    elif changed:
        say([{"field": name, **each} for name, each in changed.items()], False)
    else:
        note(f"Nothing differs: the {kind.noun} {before['code']} is so already.")


def _written(
    command_line: CommandLine, code: str, write: Callable[[Transaction], tuple[Record, Entry | None]]
) -> Record:
    async def work(installation: Installation) -> Record:
        record, entry = await (await company_database(installation, code)).write(write)
        if entry is not None:
            await write_audit(installation.platform, entry)
        return record

    return command_line.run(work)


def _body(
    tx: Transaction,
    operation: Operation,
    given: Values,
    unread: FieldErrors,
    named: Values,
    current: Values | None = None,
) -> Input:
    """The body of the operation. Raises Problem with every error at once, those of references too, as the API."""
    values, errors = _with_ids(tx, given, unread)
    sent = laid_over(current or {}, nested(values))
    body = {name: sent[name] for name in nested(values)}
    assert operation.body is not None
    try:
        return check(operation.body, body, errors)
    except Problem as problem:
        if operation.references is None or not may_have_more(problem):
            raise
        found = operation.references(tx, well_formed(body, problem.errors), named)
        raise with_references(problem, found) from None


def _with_ids(tx: Transaction, given: Values, unread: FieldErrors) -> tuple[Values, FieldErrors]:
    """The values with the ids of the records that are named by their codes."""
    values, errors = dict(given), dict(unread)
    for name in values.keys() & NAMED_BY_CODE.keys():
        kind, named = NAMED_BY_CODE[name], values[name]
        if named is not None:
            values[name] = directory.id_of_code(tx, kind, str(named))
            if values[name] is None:
                errors[name] = [f"is not a {kind.noun} of this company"]
    return values, errors


def _options(options: tuple[FieldOption, ...], more: Mapping[str, str] | None = None) -> Any:
    return told_by_options({**{each.path: each.option for each in options}, **(more or {})})
