"""The command `wmsd company papers`, which runs the same operations as the page in the browser."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from wmsd.base.problems import FieldErrors, invalid
from wmsd.contract.fields import Input
from wmsd.contract.operation import Operation
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.record_audit import Entry, act_and_audit, write_audit_entry
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_database, database_to_change, options_of
from wmsd.interfaces.cli.kit.field_options import options_of_body, values_of_options
from wmsd.warehouse.directory.imports import laid_over, nest_address
from wmsd.warehouse.papers.actions import change_papers, get_papers, remove_logo, set_logo
from wmsd.warehouse.papers.logo import MOST_BYTES

FIELDS: Final = options_of_body(change_papers)


@click.command("papers")
@click.argument("code")
@options_of(*(each.decorator() for each in FIELDS))
@click.option(
    "--logo",
    "field_file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="PNG or JPEG file with the logo: at most 200 kB, and at most 2000 pixels in width and height.",
)
@click.option("--no-logo", is_flag=True, help="Remove the logo.")
@json_option
@with_installation
def company_papers_command(
    command_line: CommandLine,
    /,
    code: str,
    field_file: Path | None,
    no_logo: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Show and change what is printed on the documents of the company CODE: address, logo and label size.

    Without options nothing is changed. Fields that are not given stay unchanged. To clear a field, give an empty
    text: "".
    """
    if field_file is not None and no_logo:
        raise click.UsageError("Give --logo or --no-logo, not both.")
    values, errors = values_of_options(FIELDS, given)
    file = None if field_file is None else _base64(field_file)

    def write(tx: Transaction) -> tuple[Record, list[Entry]]:
        """Apply all changes or none. Return the record after the changes, and the audit entries of the changes."""
        now: Record = get_papers.action(tx)
        sent = laid_over(json.loads(now.json), nest_address(values))
        asked: list[tuple[Operation, dict[str, object]]] = []
        if values:
            asked.append((change_papers, {name: sent[name] for name in nest_address(values)}))
        if file is not None:
            asked.append((set_logo, {"file": file}))
        entries: list[Entry | None] = []
        for operation, body in asked:
            now, entry = act_and_audit(tx, operation, code, {"body": _body(operation, body, errors)})
            entries.append(entry)
        if no_logo:
            now, entry = act_and_audit(tx, remove_logo, code, {})
            entries.append(entry)
        return now, [each for each in entries if each is not None]

    async def work(installation: Installation) -> Record:
        if not (values or file or no_logo):
            shown: Record = await (await company_database(installation, code)).read(get_papers.action)
            return shown
        installation.folder.check_space()
        record, entries = await (await database_to_change(installation, code)).write(write)
        for entry in entries:
            await write_audit_entry(installation.platform, entry)
        return record

    say(json.loads(command_line.run(work).json), as_json)


def _body(operation: Operation, values: Mapping[str, object], errors: FieldErrors) -> Input:
    """Return the validated body. Raise Problem (422) if it has errors."""
    assert operation.body is not None
    return validate_model(operation.body, values, errors if operation is change_papers else None)


def _base64(path: Path) -> str:
    """Return the file in base64.

    Raise Problem (422) if the file is larger than a logo may be; the rest is not read.
    """
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise invalid({"file": ["is larger than 200 kB"]})
    return base64.b64encode(content).decode()
