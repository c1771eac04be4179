"""Which companies changed after a position: each once, the last one first, and nothing is missed."""

import asyncio
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from wmsd.app.live_changes import LiveChanges
from wmsd.db.company_files import CompanyFiles

COMPANIES = st.sets(st.integers(1, 8), max_size=4)


class Files:
    def __init__(self) -> None:
        self.written = set[int]()

    def watch(self) -> set[int]:
        return self.written


def made() -> tuple[LiveChanges, set[int]]:
    files = Files()
    return LiveChanges(cast(CompanyFiles, files)), files.written


@given(st.lists(COMPANIES, max_size=12))
def test_whoever_asks_from_where_they_were_misses_nothing(rounds: list[set[int]]) -> None:
    changes, written = made()
    told: list[tuple[int, set[int]]] = []
    for each in rounds:
        before = changes.position
        written |= each
        changes.tell()
        assert set(changes.since(before)) == each
        told.append((before, each))
    for position, _ in told:
        later = set[int]().union(*(each for before, each in told if before >= position))
        assert sorted(changes.since(position)) == sorted(later)


async def test_who_waits_is_woken_by_a_change_and_by_the_end() -> None:
    changes, written = made()

    def change() -> None:
        written.add(3)
        changes.tell()

    for act in (change, changes.end):
        waiting = asyncio.ensure_future(changes.wait(changes.position, 3600))
        pausing = asyncio.ensure_future(changes.pause(3600))
        await asyncio.sleep(0)
        act()
        await waiting
    await pausing
    assert changes.has_ended


async def test_nothing_written_wakes_nobody() -> None:
    changes, _ = made()
    changes.tell()
    await changes.wait(changes.position, 0.01)
    assert changes.position == 0
