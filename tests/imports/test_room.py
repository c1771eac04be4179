"""Tests of an import and the disk: it checks the free space before and while it writes, and
releases what it used.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.small_disk import fill
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.disk import LEAST_REFUSED
from wmsd.base.problems import Problem
from wmsd.contract.bulk_imports import Outcome, Watch
from wmsd.db.engine.sqlite import log_bytes
from wmsd.imports.disk_space import Room
from wmsd.imports.file_kinds import KINDS, import_beside

MEBIBYTE = 1024**2
ROWS = 5000
KIND = KINDS["articles"]


def articles(rows: int = ROWS) -> Iterator[str]:
    yield "code,name,description\n"
    for number in range(rows):
        yield f"N-{number},Article {number},{'long ' * 100}\n"


@pytest.fixture
async def world(small_disk: Path) -> AsyncIterator[World]:
    async with open_world(small_disk / "data", UNLIMITED) as opened:
        yield opened


async def take_in(world: World, watch: Watch | None = None, rows: int = ROWS) -> Outcome:
    room = Room(world.installation.folder.path)
    with closing((await world.database()).staging()) as staging:
        return import_beside(staging, KIND, articles(rows), watch=watch, room=room)


async def count(world: World) -> int:
    [(found,)] = await world.rows("SELECT count(*) FROM articles")
    assert isinstance(found, int)
    return found


async def test_what_has_no_room_is_refused_before_it_writes(world: World, small_disk: Path) -> None:
    needed = ROWS * KIND.bytes_per_row
    fill(small_disk, LEAST_REFUSED + needed - MEBIBYTE)
    before = await count(world)
    with pytest.raises(Problem) as refused:
        await take_in(world)
    assert refused.value.code == "SERVICE_UNAVAILABLE"
    assert refused.value.message == (
        "The disk is too full to import 5000 rows: the import needs up to 16 MB, 34 MB must stay free, "
        "and 49 MB are free. Free some space, or import the file in parts."
    )
    assert await count(world) == before
    assert (await take_in(world, rows=500)).created == 500, "a part of it has room"


async def test_rows_take_no_more_than_is_reckoned(world: World, small_disk: Path) -> None:
    fill(small_disk, LEAST_REFUSED + ROWS * KIND.bytes_per_row + MEBIBYTE)
    assert (await take_in(world)).created == ROWS


class Filling(Watch):
    """A watch that fills the disk as soon as rows are written."""

    def __init__(self, disk: Path) -> None:
        self.disk = disk
        self.file: Path | None = None

    def writing(self) -> None:
        self.file = fill(self.disk, LEAST_REFUSED - MEBIBYTE)


async def test_an_import_stops_when_the_disk_fills_up_and_gives_its_room_back(
    world: World, small_disk: Path
) -> None:
    path = (await world.database()).path
    before, watch = await count(world), Filling(small_disk)
    with pytest.raises(Problem) as refused:
        await take_in(world, watch)
    assert refused.value.message.startswith(
        "The disk became too full during the import: 33 MB are free, and 34 MB"
    )
    assert await count(world) == before
    assert log_bytes(path) < MEBIBYTE
    assert watch.file is not None
    watch.file.unlink()
    assert (await take_in(world)).created == ROWS
