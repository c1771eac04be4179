"""A command that opens a company's file, prints that it did, and runs until its input ends. Run as a script."""

import asyncio
import sys
from pathlib import Path

from wmsd.data_folder.folder import DataFolder
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine
from wmsd.interfaces.cli.kit.company_data import company_database
from wmsd.settings.all_settings import Settings


async def work(installation: Installation) -> None:
    database = await company_database(installation, "ACME")
    await database.read(lambda tx: tx.value("SELECT count(*) FROM articles"))
    print("at work", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    CommandLine(Settings(), DataFolder(Path("data")), None).run(work)
