"""The demo company. Its data is a small part of one month of a real shop (see demo_data/ATTRIBUTION.md)."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import partial
from importlib.resources import files
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import EVERYTHING, MODULES
from wmsd.contract.context import Actor, Company
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.file_kinds import KINDS, import_csv
from wmsd.installation.open_installation import Installation
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import store as users
from wmsd.tenants.accounts import token_store
from wmsd.tenants.accounts.passwords import NO_PASSWORD
from wmsd.tenants.accounts.schema import NewUser
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewCompany
from wmsd.tenants.one_time_links.demo import (
    ADMIN,
    DEMO_CODE,
    DEMO_EMAIL,
    OFFICE_WORKER,
    PEOPLE,
    WAREHOUSE_WORKER,
    DemoPerson,
)

DATA: Final = files("wmsd.installation") / "demo_data"
RECORDS: Final = ("warehouses", "partners", "articles", "stock")
DAY: Final[Mapping[str, DemoPerson]] = {
    "packaging-types": ADMIN,
    "sales-orders": OFFICE_WORKER,
    "purchase-orders": OFFICE_WORKER,
    "receptions": WAREHOUSE_WORKER,
    "returns": WAREHOUSE_WORKER,
    "packaging-movements": WAREHOUSE_WORKER,
    "counts": WAREHOUSE_WORKER,
}
"""The import files with the work of the demo users. The value is the user in whose name the file is imported.

Dates in the files are relative, such as `today` or `today-3`.
"""
TODAY: Final = re.compile(r"today([+-]\d+)?")
TOKEN_NAME: Final = "demo"
TOKEN_LIFETIME: Final = timedelta(days=30)
"""How long a demo token works. wmsd warns users two weeks before a token expires. The lifetime is more than two
weeks, so that a new demo does not begin with this warning.
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    company_id: int
    company_name: str
    token: str
    links: tuple[tuple[DemoPerson, str], ...]
    """Each demo user, with the code of a sign-in link. The link signs the browser in as this user."""


async def load(installation: Installation) -> Loaded:
    """Create the demo company, its users and its data, unless they exist. Always create a new token and new links.

    The work of the demo users is imported only when the company is created.
    """
    platform, company = installation.platform, await _company(installation)
    is_new = company is None
    if company is None:
        new = NewCompany(code=DEMO_CODE, name="Demo Trading", modules=list(MODULES))
        await platform.write(lambda tx: companies.create_company(tx, new, installation.files.create))
        company = await _company(installation)
    assert company is not None
    await platform.write(_add_people)
    database = await installation.files.get(company.id)
    today = installation.clock.now().astimezone(installation.time_zone).date()
    for kind in RECORDS:
        if not await database.read(partial(_has_any, kind)):
            await database.write(partial(import_csv, kind=KINDS[kind], lines=_lines(kind, today)))
    for kind, person in DAY.items() if is_new else ():
        actor = await platform.read(partial(_actor, person))
        await database.write(partial(import_csv, kind=KINDS[kind], lines=_lines(kind, today)), actor)
    return Loaded(company.id, company.name, await platform.write(_renew_token), await platform.write(_offer_links))


def _has_any(kind: str, tx: Transaction) -> bool:
    return bool(tx.value("SELECT rows FROM row_counts WHERE name = ?", (kind,)))


def _lines(kind: str, today: date) -> Iterator[str]:
    text = (DATA / f"{kind}.csv").read_text(encoding="utf-8")
    dated = TODAY.sub(lambda day: str(today + timedelta(days=int(day[1] or 0))), text)
    return iter(dated.splitlines(keepends=True))


async def _company(installation: Installation) -> Company | None:
    return next((c for c in (await installation.access.companies()).values() if c.code == DEMO_CODE), None)


def _add_people(tx: Transaction) -> None:
    """Create the demo users that do not exist yet.

    The users have no password. People sign in by links, and programs use the token that `load` creates.
    """
    for person in PEOPLE:
        if users.user_by_email(tx, person.email) is None:
            new = NewUser(
                email=person.email,
                name=person.name,
                role="company-admin" if person.work is None else "member",
                abilities=[] if person.work is None else sorted(person.work.abilities),
                company_codes=[DEMO_CODE],
            )
            accounts.create_user(tx, new, NO_PASSWORD)


def _actor(person: DemoPerson, tx: Transaction) -> Actor:
    return Actor(person.email, accounts.user_of_email(tx, person.email).id)


def _offer_links(tx: Transaction) -> tuple[tuple[DemoPerson, str], ...]:
    return tuple((person, person.link.offer(tx)) for person in PEOPLE)


def _renew_token(tx: Transaction) -> str:
    """Create a new demo token, and return it. Older demo tokens stay valid, but users get no warning before these
    tokens expire.
    """
    token_store.note_renewed(tx, accounts.user_of_email(tx, DEMO_EMAIL).id, TOKEN_NAME)
    return accounts.create_token(
        tx,
        email=DEMO_EMAIL,
        name=TOKEN_NAME,
        abilities=[EVERYTHING],
        company_codes=[DEMO_CODE],
        lifetime=TOKEN_LIFETIME,
    )
