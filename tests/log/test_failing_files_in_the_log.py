"""Tests of a flood of requests to a failing file: it is one line in the log, and another when the
failure is over.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.log_lines import Kept, keeping
from tests.support.shop import Shop
from wmsd.base.repeated_failures import FLAPPING_SECONDS, SILENT_SECONDS

PAGE = 4096


@pytest.fixture
def log() -> Iterator[Kept]:
    with keeping() as kept:
        yield kept


def complaints(log: Kept) -> list[str]:
    """Return all log messages about the company, without the lines of the requests."""
    return [record.getMessage() for record in log.records if record.name in ("wmsd.dispatcher", "wmsd.companies")]


async def damaged(shop: Shop, table: str) -> tuple[Path, bytes]:
    """Damage the first page of a table. Return the company's file and its bytes from before."""
    ((page,),) = await shop.world.rows("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
    database = await shop.world.database()
    await database.close()
    whole = database.path.read_bytes()
    start = (page - 1) * PAGE
    database.path.write_bytes(whole[:start] + b"\xa5" * PAGE + whole[start + PAGE :])
    return database.path, whole


async def test_a_damaged_page(shop: Shop, log: Kept) -> None:
    """Requests that do not need the damaged page work in between."""
    world = shop.world
    file, whole = await damaged(shop, "partners")
    for _ in range(50):
        assert (await world.send("GET", "/api/partners")).status == 503
        assert (await world.send("GET", "/api/articles")).status == 200
    assert complaints(log) == [
        "reads of company 1 fail: database disk image is malformed",
        "company 1 is unavailable: database disk image is malformed",
    ]
    for _ in range(int(SILENT_SECONDS / 50) + 1):
        world.clock.seconds += 50
        assert (await world.send("GET", "/api/partners")).status == 503
    assert complaints(log)[2:] == [
        "reads of company 1 fail: database disk image is malformed; 122 failures so far",
        "company 1 is unavailable: database disk image is malformed; 122 failures so far",
    ]
    file.write_bytes(whole)
    world.clock.seconds += FLAPPING_SECONDS
    assert (await world.send("GET", "/api/partners")).status == 200
    assert complaints(log)[4:] == [
        "resolved after 123 failures: company 1 is unavailable",
        "resolved after 123 failures: reads of company 1 fail",
    ]


async def test_a_file_that_is_no_database(shop: Shop, log: Kept) -> None:
    world = shop.world
    database = await world.database()
    await database.close()
    world.installation.files.suspect(world.company, OSError("looked at again"))
    whole = database.path.read_bytes()
    database.path.write_bytes(b"not a database" * 4000)
    for _ in range(50):
        assert (await world.send("GET", "/api/partners")).status == 503
    assert len(complaints(log)) == 2
    assert complaints(log)[1].startswith(
        f"company 1 is unavailable: {database.path} cannot be used: file is not a "
    )
    database.path.write_bytes(whole)
    world.clock.seconds += FLAPPING_SECONDS
    assert (await world.send("GET", "/api/partners")).status == 200
    assert complaints(log)[2:] == ["resolved after 51 failures: company 1 is unavailable"]
