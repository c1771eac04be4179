"""Tests of every part of `scripts/bench` at a tiny size.

These runs measure nothing, and show only that each part still runs.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.__main__ import NEEDS_WRK, PARTS
from benchmarks.against import AT_ONCE, SETUPS
from benchmarks.executable import EXECUTABLE, OF_PACKAGE
from benchmarks.figures import GOALS, PAGE_AGAINST_API
from benchmarks.page_costs import PAIRS
from tests.support.executable import NAMED
from tests.support.forked import ROOT, Program
from tests.support.guide_console import FORKED
from tests.support.programs import program as require

pytestmark = pytest.mark.long

LONGEST = 300.0
"""The most seconds of a part on a busy machine. On a quiet machine a part takes two to six."""
PAGES = {f"{pair.name} {PAGE_AGAINST_API}" for pair in PAIRS if pair.paths}


def module_of(part: str) -> ModuleType:
    return sys.modules[PARTS[part].__module__]


def promised(module: ModuleType) -> set[str]:
    """Return the numbers with goals that the module names, and those of the modules that measure for it."""
    names = {value for value in vars(module).values() if isinstance(value, str)} & GOALS.keys()
    others = [
        value for value in vars(module).values() if isinstance(value, ModuleType) and hasattr(value, "measure")
    ]
    return names.union(*map(promised, others))


def bench(program: Program, *arguments: str, scratch: Path) -> "subprocess.CompletedProcess[str]":
    """Run the benchmark at the tiny size. The files that the benchmark leaves are in the folder `scratch`."""
    forks = {"BENCH_FORKED": str(FORKED), "FORKS": str(program.requests)}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "--tiny", *arguments],
        cwd=ROOT,
        env={**os.environ, **forks, "PYTHONPATH": str(ROOT / "scripts"), "TMPDIR": str(scratch)},
        pass_fds=(program.requests,),
        text=True,
        capture_output=True,
        timeout=LONGEST,
    )


def test_every_goal_is_of_a_part() -> None:
    assert set[str]().union(*(promised(module_of(part)) for part in PARTS)) == GOALS.keys()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_measures_all_that_it_promises(program: Program, part: str, tmp_path: Path) -> None:
    if part in NEEDS_WRK:
        require("wrk")
    if part == "executable" and not (NAMED and EXECUTABLE.exists() and OF_PACKAGE.exists()):
        pytest.skip("scripts/smoke runs it, after scripts/build")
    found, scratch = tmp_path / "figures.json", tmp_path / "scratch"
    scratch.mkdir()
    done = bench(program, "--only", part, "--json", str(found), scratch=scratch)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr[-3000:]
    measured = {row["figure"] for row in json.loads(found.read_text()) if row["wmsd"] is not None}
    assert promised(module_of(part)) - measured == set()
    assert part != "pages" or measured >= PAGES
    assert [*scratch.iterdir()] == []


def test_a_comparison_with_a_revision_measures_every_request(program: Program, tmp_path: Path) -> None:
    kept = tmp_path / "kept.md"
    done = bench(program, "--against", "HEAD", "--table", str(kept), scratch=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr[-3000:]
    rows = [line.split("  ")[0] for line in done.stdout.splitlines()]
    for setup in SETUPS:
        for kind in setup.kinds:
            named = re.compile(rf"{kind.name}, \d+ at once{setup.suffix}")
            assert len([*filter(named.fullmatch, rows)]) == len(AT_ONCE), named
    assert kept.read_text(encoding="utf-8").count("\n| ") == len(rows)
    kept.unlink()
    assert [*tmp_path.iterdir()] == []
