"""Everything at once, for a short while: strangers and tenants who mean harm, beside tenants who work.

Times are not held here: `scripts/soak --only hostile` does that on a quiet machine.
"""

import asyncio
from pathlib import Path

import pytest

from tests.support.command import EMAIL, PASSWORD, Home
from tests.support.forked import ROOT, Program
from tests.support.hostile.run import MOST_FILES, MOST_LOG, MOST_RESIDENT, STOP_SECONDS, Plan, environment, run
from tests.support.hostile.scene import Tenant

pytestmark = pytest.mark.alone

SECONDS = 20
QUOTA_MEGABYTES = 50


def tenant(home: Home, number: int, code: str) -> Tenant:
    home.ok("company", "create", code, "--name", code, "--all-modules", *(["--init"] if number == 1 else []))
    if number == 1:
        home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    articles = "".join(f"A{place:07},Article {place} of steel and rubber\n" for place in range(1, 2001))
    for kind, text in (
        ("partners", "code,name,type\nP,Customer,CLIENT\n"),
        ("warehouses", "code,name\nMAIN,Main\n"),
        ("articles", f"code,name\n{articles}"),
        ("stock", "article_code,warehouse_code,quantity\nA0000001,MAIN,1000000\n"),
    ):
        home.ok("import", kind, "-", "--company", code, stdin=text)
    token = home.ok("token", "create", "--user", EMAIL, "--ability", "*", "--company", code).out.strip()
    return Tenant(number, token)


def test_honest_tenants_are_served_while_others_attack(tmp_path: Path) -> None:
    program = Program(tmp_path)
    home = Home(program, tmp_path)
    codes = ("EVIL1", "EVIL2", "EVIL3", "GOOD1", "GOOD2")
    tenants = [tenant(home, number, code) for number, code in enumerate(codes, 1)]
    for code in ("GOOD1", "GOOD2"):
        home.ok("company", "change", code, "--requests-per-minute", "240")
    plan = Plan(
        root=ROOT,
        data=home.data,
        scratch=tmp_path,
        env=environment(ROOT, {"WMSD_STORAGE_QUOTA_MEGABYTES": str(QUOTA_MEGABYTES)}),
        hostile=tenants[:3],
        honest=tenants[3:],
        email=EMAIL,
        password=PASSWORD,
        addresses=16,
        seconds=SECONDS,
        most_disk=5 * QUOTA_MEGABYTES * 1_500_000,
    )
    outcome = asyncio.run(run(plan))
    assert outcome.served.refused == []
    assert len(outcome.served.seconds) >= 2 * SECONDS
    assert outcome.taken.resident_bytes < MOST_RESIDENT
    assert outcome.taken.files < MOST_FILES
    assert outcome.taken.disk_bytes < plan.most_disk
    assert outcome.taken.log_bytes < MOST_LOG
    assert (outcome.exit_status, outcome.stop_seconds < STOP_SECONDS) == (0, True)
    assert "Traceback" not in outcome.log
    assert outcome.answers["searches: 200"] > 0
    assert outcome.answers["sign-in, errors: 422"] > 0
    home.ok("doctor")
    program.end()
