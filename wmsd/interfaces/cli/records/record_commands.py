"""The commands `list`, `show`, `create` and `change` for a kind of record, generated from its operations.

The commands for documents share `list` and `show`.
"""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Final

import click

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.contract.fields import Input, Recorded
from wmsd.contract.list_queries import PageQuery
from wmsd.contract.operation import Operation
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model, well_formed
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.decoding import may_have_more, with_references
from wmsd.dispatch.page_pieces import whole_page
from wmsd.dispatch.record_audit import Entry, act_and_audit
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    cell_text,
    json_option,
    note,
    say,
    with_installation,
)
from wmsd.interfaces.cli.kit.company_data import (
    Option,
    company_option,
    database_to_change,
    options_of,
    paging_options,
    read_company,
    say_page,
    write_audited,
)
from wmsd.interfaces.cli.kit.field_options import (
    FieldOption,
    options_of_body,
    options_of_query,
    values_of_options,
)
from wmsd.interfaces.cli.kit.operations import FIELD, needed_id
from wmsd.interfaces.cli.kit.references import DIRECTORY, References, Row, with_codes
from wmsd.tenants.companies.store import field_differences
from wmsd.warehouse.directory.imports import laid_over, nest_address
from wmsd.warehouse.similar_codes import similar_code

SORT: Final = "sort"
BY_ID: Final = "id:"
NARROWEST: Final = 80
BETWEEN: Final = 2
LEAST: Final = 8
"""The smallest width, in characters, to which a wide column is cut."""
Rows = list[Row]
Values = Mapping[str, object]


@dataclass(frozen=True)
class RecordKind:
    """A kind of record that people name by a code, with the operations that read it.

    `listed` has the columns that `list` prints in its table (not in JSON).
    """

    noun: str
    table: str
    id_of_code: Callable[[Transaction, str], int | None]
    list: Operation
    get: Operation
    listed: tuple[str, ...]

    @property
    def argument(self) -> str:
        """The name of the code argument in a command's usage."""
        return self.noun.split()[-1].upper()

    @property
    def tables(self) -> tuple[str, ...]:
        """The fields of a record that are printed as separate tables."""
        return ()

    @property
    def references(self) -> References:
        return DIRECTORY

    @cached_property
    def filters(self) -> tuple[FieldOption, ...]:
        query: Any = self.list.query
        return options_of_query(query, [*query.filter_names(), SORT])

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """Return the id of the record with this code. Raise Problem (404) if there is none."""
        lists = f"{self.noun.replace(' ', '-')} list --company {company}"
        return needed_id(tx, self.id_of_code(tx, named), self.noun, self.table, named, lists)

    def rows(self, tx: Transaction, records: Rows, as_json: bool) -> Rows:
        coded = with_codes(tx, self.references, records)
        return [{name: _cell(record[name]) for name in self.listed} for record in coded]


def _cell(value: Any) -> Any:
    return len(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class RecordCommands(RecordKind):
    """A kind of record that commands can also create and change."""

    create: Operation
    change: Operation

    @cached_property
    def fields(self) -> tuple[FieldOption, ...]:
        return options_of_body(self.create)

    @cached_property
    def changes(self) -> tuple[FieldOption, ...]:
        return options_of_body(self.change)

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """Return the id of the record that `named` names: by its code, or by its id in a form such as `id:7`.

        Raise Problem (404) if there is no such record. A number without `id:` is always read as a code, so that a
        mistyped code cannot select a record by its id.
        """
        try:
            return super().find(tx, named, company)
        except Problem as problem:
            if named.startswith(BY_ID) and self._with_id(tx, named.removeprefix(BY_ID)) is not None:
                return int(named.removeprefix(BY_ID))
            if (other := self._with_id(tx, named)) is None:
                raise
            sentence = (
                f"{other} has the id {named}, not the code {named}. To use the id, type "
                f"{BY_ID}{named}. {problem.message}"
            )
            raise Problem("NOT_FOUND", sentence) from None

    def _with_id(self, tx: Transaction, text: str) -> str | None:
        """Return the code of the record with this id, or None if there is no such record."""
        if not (text.isascii() and text.isdecimal()):
            return None
        try:
            code: str = json.loads(self.get.action(tx, int(text)).json)["code"]
        except (Problem, OverflowError):
            return None
        return code

    def rows(self, tx: Transaction, records: Rows, as_json: bool) -> Rows:
        """Return the rows of a list. For JSON output, these are the unchanged records. Otherwise the rows fit the
        width of the terminal.
        """
        return records if as_json else fitted(super().rows(tx, records, as_json))


def fitted(rows: Rows) -> Rows:
    """Return the rows with the longest texts cut, except in the first column, which identifies the record."""
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


def add_command(group: click.Group, name: str, does: str, action: Callable[..., None], *options: Option) -> None:
    command = options_of(*options, json_option)(with_installation(action))
    group.command(name, help=does)(command)


def group_of_kind(kind: RecordKind, does: str, shows: str) -> click.Group:
    """Return a group with the commands `list` and `show`. `does` is the help text of the group, and `shows` is the
    help text of `show`.
    """
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
        f"List, show, create and change {noun}s.",
        f"Show the {noun} with the code {argument}, or with an id, such as id:7.",
    )
    add_command(
        group,
        "create",
        f"Create {article} {noun} with the code CODE. A field that is not given has its default.",
        partial(_create, kind=kind),
        click.argument(f"{FIELD}code", metavar="CODE"),
        company_option,
        *(each.decorator() for each in kind.fields if each.path != "code"),
    )
    add_command(
        group,
        "change",
        f"Change the {noun} with the code {argument}, or with an id, such as id:7, and show the values "
        'before and after. Fields that are not given stay unchanged; an empty text, such as "", clears '
        "an optional field.",
        partial(_change, kind=kind),
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
        for option in kind.filters:
            if option.reference is not None and option.path in filters:
                query[option.path] = option.reference.id_of(tx, str(filters[option.path]), code)
        assert kind.list.query is not None
        asked = validate_model(kind.list.query, query)
        assert isinstance(asked, PageQuery)
        found = whole_page(tx, kind.list, asked)
        return kind.rows(tx, json.loads(f"[{found.records}]"), as_json), found.total

    rows, total = read_company(command_line, code, read)
    is_filtered = not filters.keys() <= {SORT}
    say_page(
        rows,
        total,
        page,
        as_json,
        f"No {kind.noun}s match these filters." if is_filtered else f"No {kind.noun}s yet.",
    )


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


def _create(command_line: CommandLine, /, *, kind: RecordCommands, code: str, as_json: bool, **given: Any) -> None:
    values, errors = values_of_options(kind.fields, given)

    def write(tx: Transaction) -> tuple[Record, Entry | None]:
        body = _body(tx, kind.create, values, errors, {})
        return act_and_audit(tx, kind.create, code, {"body": body})

    made = json.loads(_written(command_line, code, write).json)
    say(made if as_json else {"id": made["id"], "code": made["code"], "name": made["name"]}, as_json)


def _change(
    command_line: CommandLine, /, *, kind: RecordCommands, named: str, code: str, as_json: bool, **given: Any
) -> None:
    values, errors = values_of_options(kind.changes, given)
    if not values:
        raise click.UsageError("No changes given. Give an option for each field that changes, such as --name.")
    shown: list[Row] = []

    def write(tx: Transaction) -> tuple[Record, Entry | None]:
        record_id = kind.find(tx, named, code)
        before = json.loads(kind.get.action(tx, record_id).json)
        body = _body(tx, kind.change, values, errors, {"id": record_id}, before)
        record, entry = act_and_audit(tx, kind.change, code, {"id": record_id, "body": body})
        after = json.loads(record.json)
        shown[:] = [before, after] if as_json else with_codes(tx, kind.references, [before, after])
        return record, entry

    _written(command_line, code, write)
    before, after = shown
    changed: dict[str, Any] = {
        name: each for name, each in field_differences(before, after).items() if name not in Recorded.READ_ONLY
    }
    if as_json:
        say({"id": after["id"], "code": after["code"], "changed": changed}, True)
    elif changed:
        note(f"Changed: the {kind.noun} {after['code']}.")
        say([{"field": name, **each} for name, each in changed.items()], False)
    else:
        note(f"Nothing was changed: the {kind.noun} {before['code']} already has these values.")


def _written(
    command_line: CommandLine, code: str, write: Callable[[Transaction], tuple[Record, Entry | None]]
) -> Record:
    async def work(installation: Installation) -> Record:
        installation.folder.check_space()
        return await write_audited(installation, await database_to_change(installation, code), write)

    return command_line.run(work)


def _body(
    tx: Transaction,
    operation: Operation,
    given: Values,
    unread: FieldErrors,
    named: Values,
    current: Values | None = None,
) -> Input:
    """Return the validated body of the operation. If there are errors, raise one Problem with all of them.

    `given` maps each field to its value. If a field refers to a record, its value is the code of this record.
    `unread` has the errors of options that are not valid. `named` has the id of the record to change, and is empty
    for a new record. `current` has the present values of the record to change, or is None.
    """
    values, errors = _with_ids(tx, given, unread)
    sent = laid_over(current or {}, nest_address(values))
    body = {name: sent[name] for name in nest_address(values)}
    assert operation.body is not None
    try:
        return validate_model(operation.body, body, errors)
    except Problem as problem:
        if operation.references is None or not may_have_more(problem):
            raise
        found = operation.references(tx, well_formed(body, problem.errors), named)
        raise with_references(problem, found) from None


def _with_ids(tx: Transaction, given: Values, unread: FieldErrors) -> tuple[Values, FieldErrors]:
    """Return the values in `given`, with ids in place of the codes of other records. Also return the errors: those
    in `unread`, and an error for each unknown code.
    """
    values, errors = dict(given), dict(unread)
    for name in values.keys() & DIRECTORY.keys():
        reference, named = DIRECTORY[name], values[name]
        if named is not None:
            values[name] = reference.find(tx, str(named))
            if values[name] is None:
                meant = similar_code(tx, reference.table, str(named))
                nearest = [] if meant is None else [f"{meant} is the nearest code"]
                errors[name] = [f"is not a {reference.noun} of this company", *nearest]
    return values, errors
