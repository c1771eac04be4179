"""Faults of clocks, disks, resources and files, and kills.

Each fault happens to a server at work. A full run writes the results to the guide's page about reliability.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from soak_runs import reliability, stolen
from soak_runs.verdict import Verdict, progress
from tests.support.command import Home
from tests.support.faults import kills, laws, trial
from tests.support.faults.fault import Fault
from tests.support.faults.kills import Killed
from tests.support.faults.load import Told
from tests.support.faults.scene import Scene, made_in
from tests.support.faults.table import FAULTS
from tests.support.forked import Program
from tests.support.small_disk import small_disk_at

SEED: Final = 20261122
ROUNDS: Final = 2
"""How many times every fault is tried."""
MOST_AGAIN: Final = 5
KILLS: Final = 1000
KILLS_OF_A_SCENE: Final = 100
WRITES: Final = 50_000


@dataclass
class Tried:
    """The results of a fault in all rounds. Counts are sums. A time is the longest of all rounds, in seconds."""

    family: str
    fault: Fault
    times: int = 0
    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    slowest: float | None = None
    """The 99th percentile of the requests of other companies, in seconds; None if there were none."""
    whole_after: float = 0.0
    stop_seconds: float = 0.0
    again: int = 0
    """How many times the fault was tried again because the machine was too busy to measure waits."""
    broken: list[str] = field(default_factory=list)

    def add(self, each: trial.Trial) -> None:
        self.times += 1
        self.acknowledged += each.acknowledged
        self.refused += each.told(Told.REFUSED)
        self.unknown += each.told(Told.UNKNOWN)
        if each.others:
            self.slowest = max(self.slowest or 0.0, laws.slowest(each.others, 0.99))
        self.whole_after = max(self.whole_after, each.whole_after)
        self.stop_seconds = max(self.stop_seconds, each.stop_seconds)
        self.broken += each.broken()


def run(divisor: int) -> Verdict:
    began, started = datetime.now(UTC), time.perf_counter()
    tried = _try_all(max(1, ROUNDS // divisor))
    killed = _kill_all(max(1, KILLS // divisor))
    seconds = time.perf_counter() - started
    if divisor == 1:
        reliability.write(tried, killed, began, SEED, seconds)
    broken = [f"{each.fault.name}: {sentence}" for each in tried for sentence in each.broken] + killed.broken
    writes = sum(each.acknowledged for each in tried) + killed.acknowledged
    if divisor == 1 and writes < WRITES:
        broken.append(f"Only {writes} writes were acknowledged.")
    figures = {
        "faults": sum(each.times for each in tried),
        "tried again on a busy machine": sum(each.again for each in tried),
        "kills": killed.kills.total(),
        "acknowledged": writes,
        "refused": sum(each.refused for each in tried),
        "unknown": sum(each.unknown for each in tried) + killed.unknown,
        "slowest p99 of others ms": max(each.slowest or 0.0 for each in tried) * 1000,
        "slowest to be whole s": max(each.whole_after for each in tried),
        "slowest stop s": max(each.stop_seconds for each in tried),
        "seconds": seconds,
    }
    return Verdict(figures, broken)


def _try_all(rounds: int) -> list[Tried]:
    tried = [Tried(family, fault) for family, faults in FAULTS.items() for fault in faults]
    for number in range(1, rounds + 1):
        with _scene(is_on_small_disk=False) as usual, _scene(is_on_small_disk=True) as small:
            for place, each in enumerate(tried):
                scene = small if each.fault.is_on_small_disk else usual
                says = f"{number}.{place + 1} of {rounds}.{len(tried)}: {each.fault.name}"
                each.add(found := _try(scene, each, f"R{number}T{place}", says))
                progress(f"{says}: {'; '.join(found.broken())[:400] or 'every law holds'}")
    return tried


def _try(scene: Scene, tried: Tried, name: str, says: str) -> trial.Trial:
    """Try a fault. Try it again if only waits were too long, and the host of this virtual machine had used the
    processors for others.
    """
    for again in range(MOST_AGAIN + 1):
        before = stolen.ticks()
        found = trial.run(scene, tried.fault, f"{name}A{again}")
        share = stolen.ticks().share_since(before)
        broken = [*found.broken()]
        if again == MOST_AGAIN or share < stolen.MUCH or not broken or [*found.broken(is_timed=False)]:
            break
        tried.again += 1
        progress(f"{says}: again, because the host took {share:.0%} of the processors: {broken[0]}")
    return found


def _kill_all(number: int) -> Killed:
    chance, killed = Random(SEED), Killed()
    while (left := number - killed.kills.total()) > 0:
        with _scene(is_on_small_disk=False) as scene:
            killed.add(kills.run(scene, min(left, KILLS_OF_A_SCENE), chance, progress))
    return killed


@contextmanager
def _scene(is_on_small_disk: bool) -> Iterator[Scene]:
    folder = Path(tempfile.mkdtemp(prefix="wmsd-soak-"))
    program = Program(folder)
    home = Home(program, folder / "home")
    home.folder.mkdir()
    try:
        if is_on_small_disk:
            with small_disk_at(home.data):
                yield made_in(home)
        else:
            yield made_in(home)
    finally:
        program.end()
        shutil.rmtree(folder, ignore_errors=True)
