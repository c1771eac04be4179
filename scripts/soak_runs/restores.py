"""Backups and restores that are killed at any moment.

Each kill must leave the complete old state or the complete new one.
"""

import shutil
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

from soak_runs.verdict import Verdict, progress
from tests.support.command import Home
from tests.support.forked import Program
from tests.support.survival import killed_at_random, prepared

SEED: Final = 20261123
KILLS: Final = 100


def run(divisor: int) -> Verdict:
    folder, started = Path(tempfile.mkdtemp(prefix="wmsd-soak-")), time.perf_counter()
    program, kills = Program(folder), max(1, KILLS // divisor)
    try:
        (folder / "home").mkdir()
        broken = killed_at_random(prepared(Home(program, folder / "home")), kills, Random(SEED), progress)
    finally:
        program.end()
        shutil.rmtree(folder, ignore_errors=True)
    return Verdict({"kills": kills, "seconds": time.perf_counter() - started}, broken)
