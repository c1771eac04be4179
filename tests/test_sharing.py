"""Two processes that share the suite run each test once, and tell of each failure."""

import subprocess
import sys
from pathlib import Path

from tests.support.command import ROOT

MODULES = 6
LONG = MODULES - 1
TESTS = """
from pathlib import Path

import pytest

pytestmark = {marks}

@pytest.mark.parametrize("test", ["good", "bad", pytest.param("alone", marks=pytest.mark.alone)])
def test_it(test: str) -> None:
    with Path({log!r}).open("a") as log:
        log.write(f"{module} {{test}}\\n")
    assert test != "bad"
"""


def test_each_test_is_run_once_and_each_failure_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for module in range(MODULES):
        marks = "[pytest.mark.long]" if module == LONG else "[]"
        text = TESTS.format(marks=marks, log=str(log), module=module)
        (tmp_path / f"test_{module}.py").write_text(text)
    command = [sys.executable, "-m", "tests.support.sharing", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 1
    ran = sorted(log.read_text().splitlines())
    assert ran == [f"{module} {test}" for module in range(MODULES) for test in ("alone", "bad", "good")]
    failed = [line for line in ended.stdout.splitlines() if line.startswith("FAILED ")]
    assert sorted(line.rpartition("/")[2] for line in failed) == [
        f"test_{module}.py::test_it[bad]" for module in range(MODULES)
    ]
