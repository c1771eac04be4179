"""A short attack with everything at the same time: hostile strangers and tenants, next to tenants who work.

Times are not tested here. `scripts/soak --only hostile` tests them on an idle machine.
"""

import asyncio
from pathlib import Path

import pytest

from tests.support.command import EMAIL, PASSWORD, Home
from tests.support.forked import ROOT, Program
from tests.support.hostile.honest import EVERY_SECONDS
from tests.support.hostile.persons import Account
from tests.support.hostile.run import MOST_FILES, MOST_LOG, MOST_RESIDENT, Plan, environment, run
from tests.support.hostile.scene import Tenant

pytestmark = pytest.mark.alone

SECONDS = 20
MOST_DISK = 500_000_000


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


def account(home: Home, company: int, role: str) -> Account:
    email = f"{role}@evil{company}.example.com"
    home.ok(
        *("user", "create", email, "--role", role, "--company", f"EVIL{company}", "--password-stdin"),
        stdin=f"{PASSWORD}\n",
    )
    return Account(company, email, PASSWORD)


def give(home: Home, email: str, code: str) -> None:
    home.ok("user", "change", email, "--add-company", code)


def test_honest_tenants_are_served_while_others_attack(tmp_path: Path) -> None:
    program = Program(tmp_path, hashes_in_full=True)
    home = Home(program, tmp_path)
    codes = ("EVIL1", "EVIL2", "EVIL3", "GOOD1", "GOOD2")
    tenants = [tenant(home, number, code) for number, code in enumerate(codes, 1)]
    people = [account(home, number, role) for number in (1, 2, 3) for role in ("company-admin", "member")]
    plan = Plan(
        root=ROOT,
        data=home.data,
        scratch=tmp_path,
        env=environment(ROOT, {}),
        hostile=tenants[:3],
        honest=tenants[3:],
        people=people,
        code=codes[0],
        grant=lambda email: give(home, email, "GOOD1"),
        email=EMAIL,
        password=PASSWORD,
        addresses=16,
        seconds=SECONDS,
        most_disk=MOST_DISK,
    )
    outcome = asyncio.run(run(plan))
    assert outcome.served.refused == []
    assert len(outcome.served.seconds) >= 2 * int(SECONDS / EVERY_SECONDS)
    assert (outcome.tried > 0, outcome.opened) == (True, [])
    assert outcome.taken.resident_bytes < MOST_RESIDENT
    assert outcome.taken.files < MOST_FILES
    assert outcome.taken.disk_bytes < plan.most_disk
    assert outcome.taken.log_bytes < MOST_LOG
    assert outcome.exit_status == 0
    assert "Traceback" not in outcome.log
    assert outcome.answers["searches: 200"] > 0
    assert outcome.answers["sign-in, errors: 422"] > 0
    for by_people in ("downloads: 200", "streams: 200", "try-out: 200", "forms: 303", "imports: 303"):
        assert outcome.answers[by_people] > 0, outcome.answers_of_people()
    home.ok("doctor")
    program.end()
