"""Tests of the parts of `scripts/soak` at a hundredth of their size, if no other test is their short form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from soak_runs.__main__ import PARTS
from tests.support.forked import ROOT

pytestmark = pytest.mark.long

LONGEST = 300.0
"""The most seconds of a part on a busy machine."""
SHORT_FORMS = {
    "restores": "tests/maintenance/backups/test_killed_backups.py",
    "webhooks": "tests/events/webhooks/test_ledger.py",
    "hostile": "tests/test_under_attack.py",
    "faults": "tests/test_under_faults.py",
    "disaster": "tests/events/outbox/test_history_cuts.py",
    "tests": "tests/browser/test_every_page.py",
}
"""Parts that are not run here, and the tests that do the same at a small size."""


@pytest.mark.parametrize("part", SHORT_FORMS)
def test_a_short_form_is_there(part: str) -> None:
    assert part in PARTS
    assert (ROOT / SHORT_FORMS[part]).is_file()


@pytest.mark.parametrize("part", [part for part in PARTS if part not in SHORT_FORMS])
def test_a_part_proves_its_laws(part: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "soak_runs", "--tiny", "--only", part],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT}", "TMPDIR": str(tmp_path)},
        text=True,
        capture_output=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith(f"{part}: ")
    assert done.stdout.endswith(", every law holds\n")
    assert "Traceback" not in done.stderr
    assert [*tmp_path.iterdir()] == []
