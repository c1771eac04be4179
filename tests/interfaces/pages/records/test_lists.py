"""The message of a list without rows: the reason, and what to do."""

import re

import pytest

from tests.interfaces.pages.records.test_browse import links, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen
from tests.support.shop import Shop
from tests.support.world import World
from wmsd.db.sql import joined_records
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.text import language


def told(seen: Seen) -> tuple[str, list[str]]:
    """Return the sentence in place of the rows, and the addresses of its links."""
    assert seen.status == 200, seen.text
    (empty,) = re.findall(r'<p class="empty">(.*?)</p>', seen.text, re.DOTALL)
    return text_of(empty), re.findall(r'href="(.*?)"', empty)


async def test_who_may_make_one_is_led_to_it(world: World) -> None:
    visitor = await signed_in(world)
    sentence, ways = told(await visitor.get("/companies/1/articles"))
    assert sentence == "No records yet. New article · Import a file"
    assert ways == ["/companies/1/articles/new", "/companies/1/imports/new?kind=articles"]
    for address in ways:
        assert (await visitor.get(address)).status == 200


async def test_who_may_not_is_told_who_can_change_that(world: World) -> None:
    visitor = await signed_in(world, "ACME", abilities=["articles:read"])
    sentence, ways = told(await visitor.get("/companies/1/articles"))
    assert sentence == "No records yet. You cannot create records here. Ask a platform admin for the right."
    assert ways == []


async def test_what_nobody_makes_here_says_how_it_comes(world: World) -> None:
    visitor = await signed_in(world)
    sentence, ways = told(await visitor.get("/companies/1/sales-orders"))
    assert sentence == "No records yet. New sales order · Import a file"
    assert ways == ["/companies/1/sales-orders/new", "/companies/1/imports/new?kind=sales-orders"]
    assert told(await visitor.get("/companies/1/events")) == (
        (
            "No records yet. Changes to articles, orders, receptions, returns, counts, stock and packaging "
            "create events."
        ),
        [],
    )


def test_every_way_to_have_one_is_said() -> None:
    silent = [each.name for each in RESOURCES if not each.comes and not any(act.makes_one for act in each.acts)]
    assert silent == []
    token = language.current.set("ro")
    try:
        texts = {each.comes for each in RESOURCES if each.comes}
        assert [each for each in texts if language.translate_text(each) == each] == []
    finally:
        language.current.reset(token)


async def test_a_filter_that_hides_all_can_be_cleared(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    sentence, ways = told(await visitor.get("/companies/1/articles?search=zzz"))
    assert sentence == "No records match these filters. Clear the filters"
    assert ways == ["/companies/1/articles"]


async def test_a_list_reads_no_lines_only_how_many_there_are(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list reads only the number of lines. A page with all lines of large orders would be too large and slow."""
    line = {"article_id": 1, "quantity": 0.001}
    for number in range(3):
        await shop.order(*[line] * (20 + number))
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", 5_000)  # the size of one order
    visitor = await signed_in(shop.world)
    await shop.world.call("GET", "/api/sales-orders?per_page=51", status=422)  # too large
    assert [cells[3] for cells in rows(await visitor.get("/companies/1/sales-orders"))] == ["22", "21", "20"]
    assert len(rows(await visitor.get("/companies/1/events?event=sales_order.created"))) == 3


async def test_a_filter_is_not_blamed_where_there_is_nothing(world: World) -> None:
    visitor = await signed_in(world)
    sentence, _ = told(await visitor.get("/companies/1/articles?search=zzz"))
    assert sentence.startswith("No records yet.")


async def test_a_page_beyond_the_end_leads_to_the_last_one(shop: Shop) -> None:
    articles = "".join(f"N{number:03},Name\n" for number in range(120))
    await shop.world.import_csv("articles", f"code,name\n{articles}")
    visitor = await signed_in(shop.world)
    seen = await visitor.get("/companies/1/articles?search=name&page=77")
    sentence, (address,) = told(seen)
    assert sentence == "There is no page 77: the list ends with page 3. To the last page"
    assert links(seen, "prev") == links(seen, "next") == []
    assert len(rows(await visitor.get(address.replace("&amp;", "&")))) == 20


async def test_a_second_page_of_nothing_leads_to_the_first(world: World) -> None:
    visitor = await signed_in(world)
    sentence, ways = told(await visitor.get("/companies/1/articles?page=2"))
    assert sentence == "There is no page 2: the list ends with page 1. To the last page"
    assert ways == ["/companies/1/articles?page=1"]
