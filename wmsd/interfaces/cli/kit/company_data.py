"""Code that the commands for one company's data share."""

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
"""A decorator that adds an option or an argument to a command."""

company_option = click.option("--company", "code", required=True, metavar="CODE", help="The code of the company.")
paging_options: Final[tuple[Option, ...]] = (
    click.option(
        "--page",
        type=click.IntRange(1, MAX_PAGE),
        default=1,
        show_default=True,
        help="Page number; page 1 has the oldest rows.",
    ),
    click.option(
        "--per-page", type=click.IntRange(1, MOST_SHOWN), default=50, show_default=True, help="Rows per page."
    ),
)


def options_of(*options: Option) -> Option:
    """Return a decorator that adds the options to a command, in the given order.

    Python applies decorators from the last to the first, so this function applies the last option first.
    """

    def give(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def say_page(rows: list[dict[str, Any]], total: int, page: int, as_json: bool, empty: str) -> None:
    """Print a page of a list and, for people, the position of the page in the list."""
    say(rows, as_json, f"There is no page {page}: the list has {total} rows." if page > 1 and total else empty)
    if rows and len(rows) < total and not as_json:
        note(f"{len(rows)} of {total} rows, page {page}. For another page: --page N")


async def company_database(installation: Installation, code: str) -> Database:
    """Return the company's database.

    If the database cannot be opened, raise StorageError. Its message is the one that a server writes to its log.
    """
    logging.getLogger("wmsd.companies").addHandler(logging.NullHandler())
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    try:
        return await installation.files.get(company.id)
    except Problem:
        raise StorageError(installation.files.failed[company.id]) from None


async def company_in_use(installation: Installation, code: str) -> tuple[Company, Database]:
    """Return the company and its open database.

    The function reads the company only after it has opened the file, and a freeze waits until open files are
    closed. So if the returned company is not frozen, nobody can freeze it while the caller uses the database.
    """
    database = await company_database(installation, code)
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    return company, database


async def database_to_change(installation: Installation, code: str) -> Database:
    """Return the company's database for a command that changes it.

    Raise StorageError as `company_database` does, or Problem if the company is frozen.
    """
    company, database = await company_in_use(installation, code)
    check_not_frozen(company)
    return database


async def write_audited(
    installation: Installation, database: Database, unit: Callable[[Transaction], tuple[Result, Entry | None]]
) -> Result:
    """Run `unit` in a transaction of the company's file. `unit` returns a result and an audit entry or None. Write
    the entry to the audit, and return the result.
    """
    result, entry = await database.write(unit)
    if entry is not None:
        await write_audit_entry(installation.platform, entry)
    return result


class Undone(Exception):
    """The exception that ends the transaction of a dry run, so that its changes are rolled back."""


def read_company(command_line: CommandLine, code: str, unit: Callable[[Transaction], Result]) -> Result:
    """Run `unit` in a read-only transaction of the company's file, and return its result. `unit` may take long."""

    async def work(installation: Installation) -> Result:
        return await (await company_database(installation, code)).read_long(unit)

    return command_line.run(work)


def write_company(
    command_line: CommandLine,
    code: str,
    unit: Callable[[Transaction], Result],
    dry_run: bool = False,
    needs_space: bool = True,
) -> Result:
    """Run the unit of work in the company's file, and return its result. A dry run changes nothing.

    With `needs_space`, raise StorageError if the disk is nearly full. A server refuses requests in this state too.
    """
    results: list[Result] = []

    def run(tx: Transaction) -> None:
        results.append(unit(tx))
        if dry_run:
            raise Undone

    async def work(installation: Installation) -> None:
        if needs_space and not dry_run:
            installation.folder.check_space()
        database = await (company_database if dry_run else database_to_change)(installation, code)
        with suppress(Undone):
            await database.write(run)

    command_line.run(work)
    return results[-1]
