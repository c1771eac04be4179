"""The job that keeps the search index of each company up to date."""

from pathlib import Path

import pytest

from tests.support.shop import Shop
from wmsd.base.machine.disk import Disk
from wmsd.server import search_updates
from wmsd.server.search_updates import SearchUpdates
from wmsd.warehouse.search.search_store import progress


def of_a_new_server(shop: Shop, folder: Path) -> SearchUpdates:
    installation = shop.world.installation
    return SearchUpdates(
        folder, installation.files, installation.access, installation.damaged_indexes, installation.clock
    )


@pytest.fixture
async def updates(shop: Shop, tmp_path: Path) -> SearchUpdates:
    made = of_a_new_server(shop, tmp_path)
    await made.index_changes()
    return made


async def is_behind(shop: Shop) -> bool:
    database = await shop.world.database()
    return await database.read(lambda tx: progress(tx).last_change < tx.last_change())


async def test_it_follows_what_is_written_after_its_first_turn(updates: SearchUpdates, shop: Shop) -> None:
    assert not await is_behind(shop)
    for _ in range(2):
        await shop.order()
        assert await is_behind(shop)
        await updates.index_changes()
        assert not await is_behind(shop)


async def test_a_file_whose_index_is_current_is_not_written(
    updates: SearchUpdates, shop: Shop, tmp_path: Path
) -> None:
    files = shop.world.installation.files
    before = files.signature(1)
    await of_a_new_server(shop, tmp_path).index_changes()
    assert files.signature(1) == before
    await shop.order()
    before = files.signature(1)
    await of_a_new_server(shop, tmp_path).index_changes()
    assert files.signature(1) != before


async def test_it_leaves_the_last_of_a_full_disk_to_others(
    updates: SearchUpdates, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.order()
    with monkeypatch.context() as full:
        full.setattr(search_updates, "disk_of", lambda _: Disk(free=1, all=1_000_000_000))
        await updates.index_changes()
    assert await is_behind(shop)
    await updates.index_changes()
    assert not await is_behind(shop)
