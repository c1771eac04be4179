"""Uploads on a disk that fills up: they stop before the disk is full, and so do the rows that wait for an
import.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_hostile_uploads import field, file_head, head, kept, nothing_stays
from tests.interfaces.pages.work.test_import_files import NEW, looked_at, words
from tests.support.small_disk import fill
from tests.support.world import open_world
from wmsd.base.machine.disk import disk_of

MEBIBYTE = 1024**2
ROWS = 60_000
STOCK = "article_code,warehouse_code,quantity\n" + "".join(f"A-{number},MAIN,1\n" for number in range(ROWS))


@pytest.fixture
async def visitor(small_disk: Path) -> AsyncIterator[Visitor]:
    async with open_world(small_disk / "data", {"imports": {"megabytes": 10}}) as world:
        yield await signed_in(world)


def spare(disk: Path) -> int:
    """Return the free bytes above the reserve that must stay free."""
    found = disk_of(disk)
    return found.free - found.refused_below


async def test_a_file_stops_when_the_disk_fills_up_while_it_arrives(visitor: Visitor, small_disk: Path) -> None:
    token = (await visitor.get(NEW)).form_token
    parts = urlsplit(visitor.world.base_url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    content = b"A,B\n" * MEBIBYTE
    begun = (
        field("form_token", token) + field("kind", "clients") + file_head() + b"code,name\n" + b"A,B\n" * 100_000
    )
    writer.write(head(visitor, len(begun) + len(content) + 100) + begun)
    try:
        async with asyncio.timeout(10):
            while not kept(visitor):  # noqa: ASYNC110  (only the file shows it)
                await asyncio.sleep(0.01)
            fill(small_disk, disk_of(small_disk).refused_below + 2 * MEBIBYTE)
            writer.write(content)
            assert (await reader.readline()).split()[1] == b"503"
    finally:
        writer.close()
    await nothing_stays(visitor)
    assert spare(small_disk) > 0


async def test_rows_that_wait_take_a_part_of_what_the_disk_has_to_spare(
    visitor: Visitor, small_disk: Path
) -> None:
    fill(small_disk, disk_of(small_disk).refused_below + 24 * MEBIBYTE)
    before, most_used = spare(small_disk), 0

    async def watch() -> None:
        nonlocal most_used
        while True:
            most_used = max(most_used, before - spare(small_disk))
            await asyncio.sleep(0.01)

    watching = asyncio.ensure_future(watch())
    _, seen = await looked_at(visitor, "stock", STOCK)
    watching.cancel()
    assert "This file needs more than the 6 MB of disk space that an import may use." in words(seen), words(seen)
    assert most_used < 9 * MEBIBYTE, "a quarter, and the upload itself"
    _, seen = await looked_at(visitor, "stock", STOCK[:10_000].rpartition("\n")[0] + "\n")
    assert "is not an article of this company" in words(seen)


async def test_nothing_but_what_was_found_stays(visitor: Visitor) -> None:
    await looked_at(visitor, "stock", STOCK[:1000].rpartition("\n")[0] + "\n")
    place = visitor.world.installation.folder.path / "imports"
    names = {each.name for each in place.rglob("*") if each.is_file()}
    assert names == {"file", "about.json", "preview.json", "errors.csv", "said"}
