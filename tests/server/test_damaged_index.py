"""A damaged search index stops nothing: it is reported, and rebuilt automatically or by `wmsd doctor --fix`."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.records.test_bulk import chosen
from tests.support.backups import add_article
from tests.support.borrowing import borrowed
from tests.support.command import Home, first_day
from tests.support.forked import LONGEST
from tests.support.shop import Shop
from wmsd.db.engine.transaction import Transaction
from wmsd.server.search_updates import SearchUpdates

DAMAGES: Final = {
    "texts": "UPDATE search_index_data SET block = randomblob(length(block)) WHERE id > 100",
    "structure": "UPDATE search_index_data SET block = randomblob(8) WHERE id = 10",
    "texts gone": "DELETE FROM search_index_data WHERE id > 100",
    "format": "DELETE FROM search_index_config",
}
SEARCH: Final = "/companies/1/search?text={}"
TOLD: Final = "The search index was damaged, and wmsd is rebuilding it."


@pytest.fixture
async def updates(shop: Shop, tmp_path: Path) -> SearchUpdates:
    house = shop.world.installation
    return SearchUpdates(tmp_path, house.files, house.access, house.damaged_indexes, house.clock)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_company_goes_on_and_its_index_is_built_again(
    shop: Shop, updates: SearchUpdates, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = shop.world
    visitor = await signed_in(world)
    old = await shop.order()
    await updates.index_changes()
    database = await world.database()
    await database.write(lambda tx: tx.execute(damage) and None)
    new = await shop.order()
    seen = await visitor.get(SEARCH.format("SO-0000"))
    assert (seen.status, TOLD in seen.text) == (200, True)
    codes = [(await world.call("GET", f"/api/sales-orders/{each.id}")).body["code"] for each in (old, new)]
    assert codes[1] in (await visitor.get(SEARCH.format(codes[1]))).goes_to + seen.text, "what is new is found"
    listed = await visitor.get("/companies/1/sales-orders?code=00000")
    assert (listed.status, codes[1] in listed.text) == (200, True), "and so it is by a part of its code in a list"
    every = await chosen(visitor, "start", path="/companies/1/sales-orders?code=00000", all="1")
    assert (every.status, TOLD in every.text) == (422, True), "an action on all matches would leave some out"
    await updates.index_changes()
    assert "the search index of company 1 was damaged, and wmsd builds it again" in caplog.text
    seen = await visitor.get(SEARCH.format("SO-0000"))
    assert (TOLD in seen.text, [code in seen.text for code in codes]) == (False, [True, True])
    problems = await (await world.database()).read(_problems)
    assert problems == ["ok"]


def _problems(tx: Transaction) -> list[str]:
    return [text for (text,) in tx.rows("PRAGMA integrity_check")]


async def test_the_job_finds_damage_too_when_it_writes(shop: Shop, updates: SearchUpdates) -> None:
    await shop.order()
    await updates.index_changes()
    database = await shop.world.database()
    await database.write(lambda tx: tx.execute(DAMAGES["structure"]) and None)
    await shop.order()
    for _ in range(3):
        await updates.index_changes()
    assert await (await shop.world.database()).read(_problems) == ["ok"]
    assert shop.world.installation.damaged_indexes.noted() == set()


def damaged(home: Home, statement: str) -> Path:
    file = home.data / "companies" / "1.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    return file


def indexed(home: Home) -> None:
    """Wait until the search index has the article."""
    ends = time.monotonic() + LONGEST
    found = 0
    while not found:
        assert time.monotonic() < ends
        time.sleep(0.2)
        with borrowed(home.data, "companies/1.db") as connection:
            [found] = connection.execute("SELECT count(*) FROM search_entries WHERE kind = 'articles'").fetchone()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_doctor_tells_the_index_from_the_rest_and_mends_it(home: Home, damage: str) -> None:
    first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
        indexed(home)
    file = damaged(home, damage)
    found = home.run("doctor")
    assert found.code == 1
    assert "Restore the file" not in found.err + found.out
    told = "damaged: {}, table search_index. Only the search index is damaged: `wmsd doctor --fix` rebuilds it"
    assert told.format(file) in found.err
    dry = home.run("doctor", "--fix", "--dry-run")
    assert "Would be fixed: Empty the search index of ACME" in dry.err
    assert home.run("doctor").code == 1, "a dry run changes nothing"
    fixed = home.ok("doctor", "--fix", "--json")
    assert [each["done"] for each in fixed.json[-1]["fixed"]] == [True]
    assert all(report["ok"] for report in fixed.json)
    with home.serving() as server:
        indexed(home)
        assert all(report["ok"] for report in home.ok("doctor", "--json").json)


def test_beside_a_server_the_doctor_mends_it_too(home: Home) -> None:
    first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
        indexed(home)
        server.stop()
    damaged(home, DAMAGES["texts"])
    with home.serving() as server:
        home.ok("doctor", "--fix")
        indexed(home)
        assert all(report["ok"] for report in home.ok("doctor", "--json").json)


def test_damage_elsewhere_is_still_to_be_restored(home: Home) -> None:
    first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
        indexed(home)
    file = damaged(home, DAMAGES["texts"])
    with closing(sqlite3.connect(file)) as connection:
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        [root] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'articles'").fetchone()
    with file.open("r+b") as opened:
        opened.seek((root - 1) * page_size)
        opened.write(b"\xff" * 100)
    found = home.run("doctor", "--company", "ACME")
    assert (found.code, "Restore the file: wmsd backup restore" in found.err, "--fix" in found.err) == (
        1,
        True,
        False,
    )
