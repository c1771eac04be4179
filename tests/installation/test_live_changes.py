"""Tests of which companies changed after a position: each is named once, the latest first, and none is missed."""

import asyncio
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from wmsd.db.files.company_files import CompanyFiles
from wmsd.installation.live_changes import LiveChanges

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

    with changes.listening(1) as listener:
        for act in (change, changes.end):
            waiting = asyncio.ensure_future(changes.wait(listener, changes.position, 3600))
            pausing = asyncio.ensure_future(changes.pause(listener, 3600))
            await asyncio.sleep(0)
            act()
            await waiting
        await pausing
    assert changes.has_ended


async def test_who_listens_with_an_ended_session_looks_at_once() -> None:
    changes, _ = made()
    with changes.listening(1) as ended, changes.listening(2) as other:
        assert (changes.streams, changes.sessions) == (2, {1, 2})
        waiting = [asyncio.ensure_future(changes.wait(each, 0, 3600)) for each in (ended, other)]
        pausing = [asyncio.ensure_future(changes.pause(each, 3600)) for each in (ended, other)]
        await asyncio.sleep(0)
        changes.end_sessions({1})
        async with asyncio.timeout(5):
            await asyncio.gather(waiting[0], pausing[0])
        await asyncio.sleep(0)
        assert not waiting[1].done()
        assert not pausing[1].done()
        changes.end()
        await asyncio.gather(waiting[1], pausing[1])
    assert changes.streams == 0


async def test_nothing_written_wakes_nobody() -> None:
    changes, _ = made()
    changes.tell()
    with changes.listening(1) as listener:
        await changes.wait(listener, changes.position, 0.01)
    assert changes.position == 0
