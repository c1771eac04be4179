"""The demo company: a small extract of a real shop's month (see demo_data/ATTRIBUTION.md)."""

from datetime import timedelta
from functools import partial
from importlib.resources import files
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import EVERYTHING, MODULES
from wmsd.contract.context import Company
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.file_kinds import KINDS, import_csv
from wmsd.installation.open_installation import Installation
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import store as users
from wmsd.tenants.accounts import token_store
from wmsd.tenants.accounts.schema import NewUser
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewCompany
from wmsd.tenants.one_time_links.actions import DEMO, DEMO_CODE, DEMO_EMAIL

DATA: Final = files("wmsd.installation") / "demo_data"
ORDER: Final = ("warehouses", "partners", "articles", "stock")
TOKEN_NAME: Final = "demo"
TOKEN_LIFETIME: Final = timedelta(days=30)
"""Longer than before an end people are told, so that a new demo does not begin with a warning."""


@dataclass(frozen=True, slots=True)
class Loaded:
    company_id: int
    company_name: str
    token: str
    link_code: str
    """Of the link that opens the demo in a browser."""


async def load(installation: Installation) -> Loaded:
    """Makes the demo company and its data where they are missing, and a new token for it."""
    company = await _company(installation)
    if company is None:
        new = NewCompany(code=DEMO_CODE, name="Demo Trading", modules=list(MODULES))
        await installation.platform.write(lambda tx: companies.create_company(tx, new, installation.files.create))
        company = await _company(installation)
    assert company is not None
    database = await installation.files.get(company.id)
    for kind in ORDER:
        if await database.read(partial(_has_any, kind)):
            continue
        lines = (DATA / f"{kind}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        await database.write(partial(import_csv, kind=KINDS[kind], lines=lines))
    token = await _token(installation)
    return Loaded(company.id, company.name, token, await installation.platform.write(DEMO.offer))


def _has_any(kind: str, tx: Transaction) -> bool:
    return bool(tx.value("SELECT rows FROM row_counts WHERE name = ?", (kind,)))


async def _company(installation: Installation) -> Company | None:
    return next((c for c in (await installation.access.companies()).values() if c.code == DEMO_CODE), None)


async def _token(installation: Installation) -> str:
    """A new token. Those of former starts go on, and nobody is told of their end. Nobody knows the demo user's
    password, so only tokens made here act for it.
    """
    if await installation.platform.read(lambda tx: users.user_by_email(tx, DEMO_EMAIL)) is None:
        password_hash = await installation.passwords.hash(installation.ids.secret())
        user = NewUser(email=DEMO_EMAIL, name="Demo", role="company-admin", company_codes=[DEMO_CODE])
        await installation.platform.write(lambda tx: accounts.create_user(tx, user, password_hash))
    return await installation.platform.write(_renew_token)


def _renew_token(tx: Transaction) -> str:
    token_store.note_renewed(tx, accounts.user_of_email(tx, DEMO_EMAIL).id, TOKEN_NAME)
    return accounts.create_token(
        tx,
        email=DEMO_EMAIL,
        name=TOKEN_NAME,
        abilities=[EVERYTHING],
        company_codes=[DEMO_CODE],
        lifetime=TOKEN_LIFETIME,
    )
