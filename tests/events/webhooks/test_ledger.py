"""Tests that nothing committed is lost, whatever is killed: a sending server, failing receivers, and kill -9.

`scripts/soak` runs the same at 60 times the size.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ledger_laws, ledger_run
from tests.support.command import Home, first_day
from tests.support.forked import Program
from tests.support.thorough import IS_THOROUGH

pytestmark = pytest.mark.long

ORDERS = 800 if IS_THOROUGH else 200
KILLS = 10 if IS_THOROUGH else 4
SEED = 20261121


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    program = Program(tmp_path)
    yield Home(program, tmp_path)
    program.end()


async def test_every_event_reaches_every_subscriber_through_kills(home: Home) -> None:
    first_day(home)
    for kind, text in ledger_run.GOODS.items():
        home.ok("import", kind, "-", "--company", "ACME", stdin=text)
    tenant = ledger_run.Tenant(home.data, (home.folder / "token").read_text(), 1)
    ran = await ledger_run.run(tenant, home.folder, ORDERS, KILLS, SEED)
    ledger = ledger_laws.read(ran)
    assert list(ledger_laws.broken(ledger)) == []
    assert ledger.figures["orders"] >= ORDERS
    assert ran.rounds or not IS_THOROUGH, "so that sending again is proven too"
    home.ok("clock", "confirm")  # the clock has jumped by a year, forward and back
    home.ok("doctor")
