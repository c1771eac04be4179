"""What the commands share that act on one company's data."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import click

from wmsd.app.site import Site
from wmsd.base.problems import Problem
from wmsd.companies import actions as companies
from wmsd.db.database import Database
from wmsd.db.failures import StorageError
from wmsd.db.transaction import Transaction

Result = TypeVar("Result")

company_option = click.option("--company", "code", required=True, metavar="CODE", help="Whose data it is.")


async def company_database(site: Site, code: str) -> Database:
    """The company's database. Raises StorageError with what the server's log would say of a file that fails."""
    logging.getLogger("wmsd.companies").addHandler(logging.NullHandler())
    company = await site.platform.read(lambda tx: companies.company_of_code(tx, code))
    try:
        return await site.files.get(company.id)
    except Problem:
        raise StorageError(site.files.failed[company.id]) from None


class Undone(Exception):
    """A dry run ends with it: so nothing is kept of what it did."""


async def write(site: Site, code: str, action: Callable[[Transaction], Result], dry_run: bool = False) -> Result:
    """The action's result; with nothing changed after a dry run."""
    database = await company_database(site, code)
    results: list[Result] = []

    def run(tx: Transaction) -> None:
        results.append(action(tx))
        if dry_run:
            raise Undone

    with suppress(Undone):
        await database.write(run)
    return results[-1]
