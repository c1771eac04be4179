"""Backups and restores that are killed at every distinct step, and at random times."""

from itertools import count
from random import Random

import pytest

from tests.support.command import Home, hashes
from tests.support.survival import FEW_ARTICLES, Drill, killed_at_each, killed_at_random, prepared

STEPS = ("rename", "fsync", "unlink", "mkdir")


@pytest.fixture
def drill(home: Home) -> Drill:
    return prepared(home, FEW_ARTICLES)


@pytest.mark.long
def test_a_restore_that_is_killed_at_any_step(drill: Drill) -> None:
    met: set[str] = set()
    for call, number in killed_at_each(drill.home, STEPS, lambda: ("backup", "restore", "--yes", drill.archive)):
        assert list(drill.flaws()) == [], (call, number)
        met.add(call)
        if drill.marks() == {0}:
            drill.mark()
    assert met == set(STEPS)
    assert drill.marks() == {0}


@pytest.mark.long
def test_a_backup_that_is_killed_at_any_step(drill: Drill) -> None:
    before = hashes(drill.home.data)
    names = (f"data-backups/{number}.tar.gz" for number in count())
    met = {call for call, _ in killed_at_each(drill.home, STEPS, lambda: ("backup", "create", next(names)))}
    assert {"rename", "fsync"} <= met
    assert hashes(drill.home.data) == before
    assert list(drill.flaws()) == []
    drill.home.ok("backup", "create", drill.home.folder / "data-backups" / "last.tar.gz")
    assert list((drill.home.folder / "data-backups").glob(".unfinished*")) == []


@pytest.mark.long
def test_any_of_them_killed_at_any_moment(home: Home) -> None:
    assert killed_at_random(prepared(home), 8, Random(19), lambda text: None) == []
