"""Strangers and tenants who mean harm, at once, beside tenants who work."""

import asyncio
import time
from typing import Final

from benchmarks.processes import ROOT
from benchmarks.site import ADMIN, PASSWORD, Company, Installation, installation
from soak_runs.verdict import Verdict, progress
from tests.support.hostile.run import Plan, environment
from tests.support.hostile.run import run as attack
from tests.support.hostile.scene import Tenant

SECONDS: Final = 600
ADDRESSES: Final = 64
HOSTILE: Final = 3
HONEST: Final = 2
ARTICLES: Final = 100_000
QUOTA_MEGABYTES: Final = 200
MOST_DISK: Final = (HOSTILE + HONEST) * QUOTA_MEGABYTES * 1_500_000
"""Each company's quota, the quarter beyond it, and the logs beside the files."""
FILES: Final = {
    "partners": "code,name,type\nP,Customer,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
}


def run(divisor: int) -> Verdict:
    started = time.perf_counter()
    with installation() as site:
        hostile = [_company(site, f"EVIL{number}", ARTICLES // divisor) for number in range(HOSTILE)]
        honest = [_company(site, f"GOOD{number}", 1000) for number in range(HONEST)]
        for company in honest:
            site.wmsd("company", "change", company.code, "--requests-per-minute", "240")
        outcome = asyncio.run(attack(_plan(site, hostile, honest, SECONDS / divisor), progress))
        for answers, count in sorted(outcome.answers.items()):
            progress(f"{count:8} {answers}")
        broken = list(outcome.broken())
    return Verdict({**outcome.figures, "seconds": time.perf_counter() - started}, broken)


def _plan(site: Installation, hostile: list[Company], honest: list[Company], seconds: float) -> Plan:
    return Plan(
        root=ROOT,
        data=site.data,
        scratch=site.data.parent,
        env=environment(ROOT, {"WMSD_STORAGE_QUOTA_MEGABYTES": str(QUOTA_MEGABYTES)}),
        hostile=[Tenant(company.id, company.token) for company in hostile],
        honest=[Tenant(company.id, company.token) for company in honest],
        email=ADMIN,
        password=PASSWORD,
        addresses=ADDRESSES,
        seconds=seconds,
        most_disk=MOST_DISK,
    )


def _company(site: Installation, code: str, articles: int) -> Company:
    company = site.company(code)
    for kind, text in FILES.items():
        site.import_csv(kind, company, text)
    site.load_articles(company, articles)
    site.import_csv("stock", company, "article_code,warehouse_code,quantity\nA0000001,MAIN,1000000\n")
    return company
