"""Disasters of every kind, one after the other, and an integrator who continues after each."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from soak_runs.reliability import Rescued, write_disasters
from soak_runs.verdict import Verdict, progress
from tests.support.command import Home
from tests.support.disaster.drill import drill
from tests.support.disaster.rescues import OTHER_RESCUES, RESCUES, Rescue
from tests.support.disaster.site import SEALS, Seal, open_site
from tests.support.forked import Program

ROUNDS: Final = 3
"""The number of disasters that an installation has, one after the other."""


def run(divisor: int) -> Verdict:
    began, started = datetime.now(UTC), time.perf_counter()
    broken, rescued = list[str](), list[Rescued]()
    rounds = [f"round{number}" for number in range(max(1, ROUNDS // divisor))]
    for seal in SEALS[: max(1, len(SEALS) // divisor)]:
        for rescue in (*RESCUES, *OTHER_RESCUES):
            says = f"{rescue.name.replace('_', ' ')}, keys sealed with {seal}"
            found = _try(rescue, seal, rounds)
            rescued.append(Rescued(rescue.name.replace("_", " "), seal, len(rounds), int(bool(found))))
            broken += [f"{says}: {found}"] if found else []
            progress(f"{says}: {found or 'every law holds'}"[:400])
    seconds = time.perf_counter() - started
    if divisor == 1:
        write_disasters(rescued, began, ROUNDS, seconds)
    return Verdict({"disasters": sum(each.disasters for each in rescued), "seconds": seconds}, broken)


def _try(rescue: Rescue, seal: Seal, rounds: list[str]) -> str:
    """Return the law that was broken, or "" if every law holds."""
    with _home() as home:
        try:
            with open_site(home, seal) as site:
                drill(site, rescue, rounds, is_thorough=True)
        except AssertionError as error:
            return " ".join(str(error).split()) or repr(error)
    return ""


@contextmanager
def _home() -> Iterator[Home]:
    folder = Path(tempfile.mkdtemp(prefix="wmsd-soak-"))
    program = Program(folder)
    home = Home(program, folder / "home")
    home.folder.mkdir()
    try:
        yield home
    finally:
        program.end()
        shutil.rmtree(folder, ignore_errors=True)
