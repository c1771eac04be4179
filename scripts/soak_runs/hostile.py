"""Hostile strangers and tenants at the same time, beside tenants who work."""

import asyncio
import time
from typing import Final

from benchmarks.processes import ROOT
from benchmarks.site import ADMIN, PASSWORD, Company, Installation, installation
from soak_runs.verdict import Verdict, progress
from tests.support.hostile.persons import Account
from tests.support.hostile.run import Plan, environment
from tests.support.hostile.run import run as attack
from tests.support.hostile.scene import Tenant
from tests.support.hostile.watching import bytes_in

SECONDS: Final = 600
ADDRESSES: Final = 64
HOSTILE: Final = 3
HONEST: Final = 2
ARTICLES: Final = 100_000
MOST_DISK_A_MINUTE: Final = 100_000_000
"""The bytes per minute that a hostile company can add to the disk within the limits, by data, logs and uploads."""
FILES: Final = {
    "partners": "code,name,type\nP,Customer,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
}


def run(divisor: int) -> Verdict:
    started = time.perf_counter()
    with installation() as site:
        hostile = [_company(site, f"EVIL{number}", ARTICLES // divisor) for number in range(HOSTILE)]
        honest = [_company(site, f"GOOD{number}", 1000) for number in range(HONEST)]
        people = [_account(site, company, kind) for company in hostile for kind in ("company-admin", "member")]
        outcome = asyncio.run(attack(_plan(site, hostile, honest, people, SECONDS / divisor), progress))
        for answers, count in sorted(outcome.answers.items()):
            progress(f"{count:8} {answers}")
        broken = list(outcome.broken())
    return Verdict({**outcome.figures, "seconds": time.perf_counter() - started}, broken)


def _plan(
    site: Installation, hostile: list[Company], honest: list[Company], people: list[Account], seconds: float
) -> Plan:
    """Return the plan of the attack, with the default settings of an installation."""
    return Plan(
        root=ROOT,
        data=site.data,
        scratch=site.data.parent,
        env=environment(ROOT, {}),
        hostile=[Tenant(company.id, company.token) for company in hostile],
        honest=[Tenant(company.id, company.token) for company in honest],
        people=people,
        code=hostile[0].code,
        grant=lambda email: _give(site, email, honest[0]),
        email=ADMIN,
        password=PASSWORD,
        addresses=ADDRESSES,
        seconds=seconds,
        most_disk=bytes_in(site.data) + int(HOSTILE * MOST_DISK_A_MINUTE * seconds / 60),
    )


def _give(site: Installation, email: str, company: Company) -> None:
    site.wmsd("user", "change", email, "--add-company", company.code)


def _account(site: Installation, company: Company, role: str) -> Account:
    email = f"{role}@{company.code.lower()}.example.com"
    site.wmsd(
        *("user", "create", email, "--role", role, "--company", company.code, "--password-stdin"),
        stdin=f"{PASSWORD}\n",
    )
    return Account(company.id, email, PASSWORD)


def _company(site: Installation, code: str, articles: int) -> Company:
    company = site.company(code)
    for kind, text in FILES.items():
        site.import_csv(kind, company, text)
    site.load_articles(company, articles)
    site.import_csv("stock", company, "article_code,warehouse_code,quantity\nA0000001,MAIN,1000000\n")
    return company
