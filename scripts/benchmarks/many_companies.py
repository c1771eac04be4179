"""Many companies with the same goods, created in seconds by copying the file of the first one.

    python -m benchmarks.many_companies DATA CODE COUNT

creates companies in the data folder until there are COUNT, of which CODE is the first. The program prints their
ids and tokens as JSON.
"""

import asyncio
import json
import shutil
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

from benchmarks.site import ADMIN
from wmsd.contract.access import EVERYTHING, MODULES
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import open_installation
from wmsd.settings.all_settings import Settings
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewCompany

LIFETIME: Final = timedelta(days=2)
GIVE_AWAY: Final = "UPDATE owner SET company_id = ?, code = ?"


async def make(data: Path, first: str, count: int, user: str = ADMIN) -> list[tuple[int, str]]:
    """Create copies of the company `first` until there are `count` companies. Return the id of each company, and a
    token of the user for it.

    No server may run meanwhile.
    """
    folder = DataFolder(data)
    async with open_installation(Settings(), folder) as installation:

        def add(tx: Transaction) -> list[tuple[int, str]]:
            made: list[tuple[int, str]] = []
            for number in range(count):
                code = first if number == 0 else f"{first}-{number}"
                company_id = (
                    tx.value("SELECT id FROM companies WHERE code = ?", (code,))
                    if number == 0
                    else companies.create_company(
                        tx, NewCompany(code=code, name=code, modules=list(MODULES)), lambda _id, _code: None
                    )
                )
                token = accounts.create_token(
                    tx, email=user, name=code, abilities=(EVERYTHING,), company_codes=(code,), lifetime=LIFETIME
                )
                made.append((company_id, token))
            return made

        made = await installation.platform.write(add)
        template = installation.files.path(made[0][0])
        for company_id, _ in made[1:]:
            shutil.copyfile(template, installation.files.path(company_id))
            with closing(connect(installation.files.path(company_id))) as connection:
                connection.execute(GIVE_AWAY, (company_id, f"C{company_id}"))
    return made


if __name__ == "__main__":
    print(json.dumps(asyncio.run(make(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))
