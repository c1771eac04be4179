"""Run the tests marked `thorough`, the longer form of each test that has one, and the tests with random data, each
time with new data.
"""

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
    "tests/maintenance/backups/test_killed_backups.py",
    "tests/data_folder/test_killed_changes.py",
    "tests/imports/test_import_beside_writes.py",
    *(f"tests/warehouse/{room}/test_serial_orders.py" for room in ("receptions", "returns")),
)
"""The tests that are longer because of modules that they import."""
MARKS: Final = ("from hypothesis import", "IS_THOROUGH", "mark.thorough")
"""The texts by which all other files are found."""


def _chosen() -> list[str]:
    found = list(LONGER)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if any(mark in text for mark in MARKS):
            found.append(str(file.relative_to(ROOT)))
    return [*dict.fromkeys(found)]


def run(divisor: int) -> Verdict:
    environment = {**os.environ, **({"THOROUGH": "1"} if divisor == 1 else {})}
    command = [sys.executable, "-m", "pytest", "-o", "faulthandler_timeout=0", *_chosen()]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr)
    broken = [] if done.returncode == 0 else [f"pytest ended with {done.returncode}. The failures are above."]
    return Verdict({"seconds": time.perf_counter() - started}, broken)
