"""The commands that make a record and change it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from wmsd.base.problems import FieldErrors, Problem
from wmsd.contract.fields import Input, Recorded
from wmsd.contract.operation import Operation
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model, well_formed
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.decoding import may_have_more, with_references
from wmsd.dispatch.record_audit import Entry, act_and_audit
from wmsd.dispatch.record_audit import write_audit_entry as write_audit
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say
from wmsd.interfaces.cli.kit.company_data import database_to_change
from wmsd.interfaces.cli.kit.field_options import values_of_options
from wmsd.interfaces.cli.kit.record_kind import RecordCommands
from wmsd.interfaces.cli.kit.references import DIRECTORY, Row, with_codes
from wmsd.tenants.companies.store import field_differences
from wmsd.warehouse.directory.imports import laid_over, nest_address
from wmsd.warehouse.similar_codes import similar_code

Values = Mapping[str, object]


def create_record(
    command_line: CommandLine, /, *, kind: RecordCommands, code: str, as_json: bool, **given: Any
) -> None:
    values, errors = values_of_options(kind.fields, given)

    def write(tx: Transaction) -> tuple[Record, Entry | None]:
        body = _body(tx, kind.create, values, errors, {})
        return act_and_audit(tx, kind.create, code, {"body": body})

    made = json.loads(_written(command_line, code, write).json)
    say(made if as_json else {"id": made["id"], "code": made["code"], "name": made["name"]}, as_json)


def change_record(
    command_line: CommandLine, /, *, kind: RecordCommands, named: str, code: str, as_json: bool, **given: Any
) -> None:
    values, errors = values_of_options(kind.changes, given)
    if not values:
        raise click.UsageError("Nothing to change: give an option for each field that changes, such as --name.")
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
        note(f"Nothing differs: the {kind.noun} {before['code']} is so already.")


def _written(
    command_line: CommandLine, code: str, write: Callable[[Transaction], tuple[Record, Entry | None]]
) -> Record:
    async def work(installation: Installation) -> Record:
        installation.folder.check_room()
        record, entry = await (await database_to_change(installation, code)).write(write)
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
    """The values with the ids of the records that are named by their codes."""
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
