"""The commands `wmsd import undo` and `wmsd import list`."""

import json
from contextlib import closing

import click

from wmsd.base.plurals import count_of
from wmsd.contract.context import PROGRAM, Actor
from wmsd.db.engine.staging import Staging
from wmsd.imports import store as record
from wmsd.imports.schema import ImportQuery
from wmsd.imports.undo import CannotBeUndone, undo_last
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.audit_notes import audit_import
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_option, database_to_change, read_company
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.sites import store as sites

MOST_LISTED = 20


@click.command("undo")
@company_option
@click.option("--by", hidden=True, help="The user of the pages who started the command.")
@click.option("--number", type=int, hidden=True, help="The id that the last import must have.")
@yes_option
@json_option
@with_installation
def undo(
    command_line: CommandLine, code: str, by: str | None, number: int | None, yes: bool, as_json: bool
) -> None:
    """Undo the last import that changed something: completely, or not at all.

    An import can be undone as long as no later change depends on it. Records that it created are deleted, and
    records that it changed get their previous values; stock is moved back by opposite movements. Documents are not
    undone: cancel them. The command first names the import, and asks for confirmation.
    """
    actor = PROGRAM if by is None else Actor(by)
    if command_line.folder.is_made:
        command_line.folder.check_space()  # the undo may write as much as the import did
    if by is None and not yes:
        number = _confirmed(command_line, code, number)

    async def find(installation: Installation) -> tuple[Staging, list[int]]:
        company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
        are_sites = await installation.platform.read(lambda tx: sites.warehouses_of(tx, company.id))
        return (await database_to_change(installation, code)).staging(actor), are_sites

    with command_line.beside() as loan:
        staging, are_sites = command_line.run_with(loan, find)
        with closing(staging):
            try:
                undone = undo_last(staging, number, are_sites)
            except CannotBeUndone as error:
                fail([*error.sentences, "Nothing was changed."])
            except KeyboardInterrupt:
                fail(["Interrupted: nothing was changed."])
        act = f"import.undo {undone['kind']}"
        audit_import(command_line, loan, act, code, undone["file_name"], {}, actor)
    of_import = {"kind": undone["kind"], "file": undone["file_name"]}
    counts = {"created": undone["created"], "updated": undone["updated"]}
    if as_json:
        say({"undone": undone["id"], **of_import, **counts}, as_json)
    else:
        undone_in_all = sum(counts.values())
        say({"import undone": undone["id"], **of_import, **counts, "records undone": undone_in_all}, False)


def _confirmed(command_line: CommandLine, code: str, number: int | None) -> int | None:
    """Ask for confirmation, and return the id of the import to undo.

    `number` is the id that the user gave, or None for the last import. If this import cannot be undone, ask
    nothing and return `number`. A later step then refuses the undo and says why.
    """

    last = read_company(command_line, code, record.last_to_undo)
    if last is None or number not in (None, last["id"]):
        return number
    confirm(
        f"Undo import {last['id']} of {code}: {last['kind']} from {last['file_name']}, "
        f"{count_of(last['created'], 'record')} created and {last['updated']} changed?"
    )
    return int(last["id"])


@click.command("list")
@company_option
@json_option
@with_installation
def show_list(command_line: CommandLine, code: str, as_json: bool) -> None:
    """List the latest imports, the newest first."""
    query = ImportQuery(sort="-id", per_page=MOST_LISTED)

    found = read_company(command_line, code, lambda tx: record.page(tx, query))
    say(json.loads(f"[{found.records}]"), as_json, "There are no imports yet.")
