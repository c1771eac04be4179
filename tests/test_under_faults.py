"""A few faults of each kind on a server at work: clocks, disks, shortages, files and kills.

`scripts/soak --only faults` runs all faults with times, and writes `wmsd/docs/reliability.md`.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.support.command import Home
from tests.support.faults import kills, trial
from tests.support.faults.fault import Fault
from tests.support.faults.scene import Scene, made_in
from tests.support.faults.table import FAULTS
from tests.support.forked import Program
from tests.support.small_disk import small_disk_at
from tests.support.thorough import IS_THOROUGH

pytestmark = pytest.mark.long

BY_NAME = {fault.name: fault for faults in FAULTS.values() for fault in faults}
CHOSEN = (
    "the clock is set forward by ten years",
    "the clock is set back by an hour",
    "the disk has 300 kB left",
    "syncs fail: a company's log",
    "writes find no free space: a company's file",
    "reads fail: the platform's file",
    "no more files can be opened",
    "no more memory can be allocated",
    "a company's file is removed, and the copy that wmsd kept is put back",
    "another program has a company's file locked",
)
KILLS = 15 if IS_THOROUGH else 8
SEED = 15


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("program"))
    yield program
    program.end()


@pytest.fixture(scope="module")
def scene(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return made_in(Home(program, tmp_path_factory.mktemp("usual")))


@pytest.fixture(scope="module")
def scene_on_small_disk(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    home = Home(program, tmp_path_factory.mktemp("small"))
    with small_disk_at(home.data):
        yield made_in(home)


@pytest.mark.parametrize("fault", [BY_NAME[name] for name in CHOSEN], ids=CHOSEN)
def test_every_law_holds(fault: Fault, request: pytest.FixtureRequest) -> None:
    scene: Scene = request.getfixturevalue("scene_on_small_disk" if fault.is_on_small_disk else "scene")
    found = trial.run(scene, fault, f"T{CHOSEN.index(fault.name)}")
    broken = [*found.broken(is_timed=False)]
    assert not broken, "\n".join(broken)
    assert found.acknowledged > 20


def test_kills(program: Program, tmp_path: Path) -> None:
    killed = kills.run(made_in(Home(program, tmp_path)), KILLS, Random(SEED))
    assert killed.broken == []
    assert killed.kills.total() == KILLS
    assert killed.acknowledged > 10 * KILLS
