"""Shared by the commands that act on one company's data."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import click

from wmsd.base.problems import Problem
from wmsd.contract.context import Company
from wmsd.contract.list_queries import MAX_PAGE
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.freezes import check_not_frozen
from wmsd.dispatch.record_audit import Entry, write_audit_entry
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say
from wmsd.tenants.companies import actions as companies

Result = TypeVar("Result")
MOST_SHOWN: Final = 200
Option = Callable[[Any], Any]
"""Adds an option or an argument to a command."""

company_option = click.option("--company", "code", required=True, metavar="CODE", help="The company.")
paging_options: Final[tuple[Option, ...]] = (
    click.option(
        "--page", type=click.IntRange(1, MAX_PAGE), default=1, show_default=True, help="Page 1 has the oldest."
    ),
    click.option(
        "--per-page", type=click.IntRange(1, MOST_SHOWN), default=50, show_default=True, help="Rows on a page."
    ),
)


def options_of(*options: Option) -> Option:
    """Adds the options to a command in this order; decorators are applied from the last to the first."""

    def give(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def say_page(rows: list[dict[str, Any]], total: int, page: int, as_json: bool, empty: str) -> None:
    """Prints a page of a list and, for people, its place in the list."""
    say(rows, as_json, f"There is no page {page}: there are {total} in all." if page > 1 and total else empty)
    if rows and len(rows) < total and not as_json:
        note(f"{len(rows)} of {total}; page {page}. See --page.")


async def company_database(installation: Installation, code: str) -> Database:
    """The company's database. Raises StorageError with the reason that a server would log."""
    logging.getLogger("wmsd.companies").addHandler(logging.NullHandler())
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    try:
        return await installation.files.get(company.id)
    except Problem:
        raise StorageError(installation.files.failed[company.id]) from None


async def company_in_use(installation: Installation, code: str) -> tuple[Company, Database]:
    """The company as it is when its file is in use here, which a freeze waits for, and its database."""
    database = await company_database(installation, code)
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    return company, database


async def database_to_change(installation: Installation, code: str) -> Database:
    """As `company_database`, for a command that changes it. Raises Problem too when the company is frozen."""
    company, database = await company_in_use(installation, code)
    check_not_frozen(company)
    return database


async def write_audited(
    installation: Installation, database: Database, unit: Callable[[Transaction], tuple[Result, Entry | None]]
) -> Result:
    """Runs the unit of work in the company's file, and then writes the entry that it gives into the audit."""
    result, entry = await database.write(unit)
    if entry is not None:
        await write_audit_entry(installation.platform, entry)
    return result


class Undone(Exception):
    """Ends a dry run, so that nothing that it did is kept."""


def read_company(command_line: CommandLine, code: str, unit: Callable[[Transaction], Result]) -> Result:
    """What the unit of work reads from the company's file, for as long as it takes."""

    async def work(installation: Installation) -> Result:
        return await (await company_database(installation, code)).read_long(unit)

    return command_line.run(work)


def write_company(
    command_line: CommandLine,
    code: str,
    unit: Callable[[Transaction], Result],
    dry_run: bool = False,
    needs_room: bool = True,
) -> Result:
    """Runs the unit of work in the company's file, and returns its result. After a dry run nothing is changed.
    `needs_room`: raises StorageError where the disk has no room for a request either.
    """
    results: list[Result] = []

    def run(tx: Transaction) -> None:
        results.append(unit(tx))
        if dry_run:
            raise Undone

    async def work(installation: Installation) -> None:
        if needs_room and not dry_run:
            installation.folder.check_room()
        database = await (company_database if dry_run else database_to_change)(installation, code)
        with suppress(Undone):
            await database.write(run)

    command_line.run(work)
    return results[-1]
