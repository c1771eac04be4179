"""What the commands share that act on one company's data."""

import logging

import click

from wmsd.app.site import Site
from wmsd.base.problems import Problem
from wmsd.companies import actions as companies
from wmsd.db.database import Database
from wmsd.db.failures import StorageError

company_option = click.option("--company", "code", required=True, metavar="CODE", help="Whose data it is.")


async def company_database(site: Site, code: str) -> Database:
    """The company's database. Raises StorageError with what the server's log would say of a file that fails."""
    logging.getLogger("wmsd.companies").addHandler(logging.NullHandler())
    company = await site.platform.read(lambda tx: companies.company_of_code(tx, code))
    try:
        return await site.files.get(company.id)
    except Problem:
        raise StorageError(site.files.failed[company.id]) from None
