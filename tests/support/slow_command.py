"""A command that has a company's file open, says so, and goes on until its input ends. Run as a script."""

import asyncio
import sys
from pathlib import Path

from wmsd.app.data_folder import DataFolder
from wmsd.app.settings import Settings
from wmsd.app.site import Site
from wmsd.interfaces.cli.company_data import company_database
from wmsd.interfaces.cli.installation import Installation


async def work(site: Site) -> None:
    database = await company_database(site, "ACME")
    await database.read(lambda tx: tx.value("SELECT count(*) FROM articles"))
    print("at work", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    Installation(Settings(), DataFolder(Path("data")), None).run(work)
