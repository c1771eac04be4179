"""`wmsd import undo`, `wmsd import list`."""

import json
from contextlib import closing
from typing import Any, NamedTuple

from wmsd.app.imports import record
from wmsd.app.imports.schema import ImportQuery
from wmsd.app.imports.undoing import CannotBeUndone, undo_last
from wmsd.app.installation import Installation
from wmsd.base.context import Actor
from wmsd.companies import actions as companies
from wmsd.db.staging import Staging
from wmsd.interfaces.cli.audited import audit_import
from wmsd.interfaces.cli.command_line import CommandLine, fail, say
from wmsd.interfaces.cli.company_data import company_database
from wmsd.transport_sites import store as sites

MOST_LISTED = 20


class Place(NamedTuple):
    staging: Staging
    used: list[int]
    """The warehouses that are sites."""


def undo(command_line: CommandLine, code: str, as_json: bool, actor: Actor, number: int | None) -> None:
    """Takes the last import back, all of it or nothing."""

    async def find(installation: Installation) -> Place:
        company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
        used = await installation.platform.read(lambda tx: sites.warehouses_of(tx, company.id))
        return Place((await company_database(installation, code)).staging(actor), used)

    with command_line.beside() as borrow:
        place = command_line.run_with(borrow, find)
        with closing(place.staging) as staging:
            try:
                undone = undo_last(staging, number, place.used)
            except CannotBeUndone as error:
                fail([*(f"{each[0].upper()}{each[1:]}." for each in error.sentences), "Nothing was changed."])
            except KeyboardInterrupt:
                fail(["Interrupted: nothing was changed."])
        act = f"import.undo {undone['kind']}"
        audit_import(command_line, borrow, act, code, undone["file_name"], {}, actor)
    say({"undone": undone["id"], "kind": undone["kind"], "file": undone["file_name"]}, as_json)


def show_list(command_line: CommandLine, code: str, as_json: bool, actor: Actor, number: int | None) -> None:
    """Shows the last imports, the newest first."""
    query = ImportQuery(sort="-id", per_page=MOST_LISTED)

    async def read(installation: Installation) -> list[dict[str, Any]]:
        database = await company_database(installation, code)
        found = await database.read(lambda tx: record.page(tx, query))
        rows: list[dict[str, Any]] = json.loads(f"[{found.records}]")
        return rows

    say(command_line.run(read), as_json, "Nothing was imported yet.")
