"""Run the longer form of each test that has one. Also run the tests with random data, each time with new data."""

import os
import subprocess
import sys
import time
from typing import Final

from soak_runs.verdict import Verdict
from tests.support.forked import ROOT

LONGER: Final = (
    "tests/browser/test_every_page.py",
    "tests/browser/test_guide.py",
    "tests/events/webhooks/test_ledger.py",
    "tests/test_company_churn.py",
    "tests/test_under_faults.py",
    "tests/maintenance/backups/test_killed_backups.py",
    "tests/data_folder/test_killed_changes.py",
    "tests/imports/test_import_beside_writes.py",
    *(f"tests/warehouse/{room}/test_serial_orders.py" for room in ("receptions", "returns")),
)
ASKS_AT_RANDOM: Final = "from hypothesis import"


def _chosen() -> list[str]:
    at_random = (
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        if ASKS_AT_RANDOM in file.read_text(encoding="utf-8")
    )
    return [*LONGER, *at_random]


def run(divisor: int) -> Verdict:
    environment = {**os.environ, **({"THOROUGH": "1"} if divisor == 1 else {})}
    command = [sys.executable, "-m", "pytest", "-o", "faulthandler_timeout=0", *_chosen()]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr)
    broken = [] if done.returncode == 0 else [f"pytest ended with {done.returncode}. The failures are above."]
    return Verdict({"seconds": time.perf_counter() - started}, broken)
