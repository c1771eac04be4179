"""Counts on the pages: created, entered in a grid, booked by users with the right; and the count of a single
record.
"""

import html
import re
from typing import Any

import pytest

from tests.interfaces.pages.records.test_act import form_of, still_in
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.goods import LOTTED, PLAIN, SERIAL, Store

COUNTS = "/companies/1/counts"
STOCK = "/companies/1/stock"
READS = ["articles:read", "warehouses:read", "stock:read"]


@pytest.fixture
async def full(store: Store) -> Store:
    """Import the stock records 1 (P), 2 (L) and 3 (S) in MAIN, and 4 (P) in EAST."""
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,5,\nL,MAIN,L2,,7,\nS,MAIN,X,S1,1,\nP,EAST,,,3,\n")
    store.world.clock.advance(60)
    return store


@pytest.fixture
async def lead(full: Store) -> Visitor:
    """Sign in a user who may count and book."""
    return await signed_in(full.world, "ACME", abilities=[*READS, "stock:count", "stock:write"])


async def counter(full: Store) -> Visitor:
    """Sign in a user who may count but not book."""
    return await signed_in(full.world, "ACME", abilities=[*READS, "stock:count"])


async def count_of(visitor: Visitor, number: int = 1) -> dict[str, Any]:
    return dict((await visitor.world.call("GET", f"/api/v2/counts/{number}")).body)


async def make(visitor: Visitor, query: str = "", **typed: str) -> Seen:
    """Send the initial form of a new count, with the typed fields."""
    page = await visitor.get(f"{COUNTS}/new{query}")
    assert page.status == 200, page.text
    return await visitor.post(f"{COUNTS}/new", {**form_of(page), **typed})


def quantities(page: Seen) -> list[str]:
    """Return the names of the fields for quantities."""
    return re.findall(r'<input id="(lines\.\d+\.counted_quantity)"', page.text)


async def enter(visitor: Visitor, *typed: str, number: int = 1) -> Seen:
    page = await visitor.get(f"{COUNTS}/{number}/enter")
    assert page.status == 200, page.text
    return await visitor.post(
        f"{COUNTS}/{number}/enter", {**form_of(page), **dict(zip(quantities(page), typed, strict=False))}
    )


async def test_a_count_is_made_of_all_that_is_in_a_warehouse(lead: Visitor) -> None:
    made = await make(lead, warehouse="MAIN")
    assert made.headers["Location"] == f"{COUNTS}/1?done=new"
    assert [line["article_code"] for line in (await count_of(lead))["lines"]] == ["L", "L", "P", "S"]
    page = await lead.get(f"{COUNTS}/1")
    assert "CT-000001" in page.text
    assert "Enter quantities" in page.text


async def test_a_count_is_made_of_words_and_of_lines(lead: Visitor) -> None:
    await make(lead, warehouse="MAIN", article_search="plain", is_blind="on")
    count = await count_of(lead)
    assert (count["is_blind"], [line["article_code"] for line in count["lines"]]) == (True, ["P"])
    await make(lead, warehouse="MAIN", **{"lines.0.article_code": "L", "lines.0.lot_number": "L2"})
    assert [line["lot_number"] for line in (await count_of(lead, 2))["lines"]] == ["L2"]


async def test_a_list_that_is_too_long_or_empty_says_so_at_its_field(lead: Visitor) -> None:
    seen = await make(lead, warehouse="EAST", article_search="lotted")
    assert seen.status == 422
    assert "matches no goods in stock" in seen.text
    assert 'value="lotted"' in seen.text


async def test_quantities_are_entered_in_a_grid_and_the_rest_stays_open(lead: Visitor, full: Store) -> None:
    await make(lead, warehouse="MAIN")
    page = await lead.get(f"{COUNTS}/1/enter")
    assert [text_of(each) for each in re.findall(r"<th[^>]*>.*?</th>", page.text)][:4] == [
        "Article code",
        "Lot number",
        "Serial",
        "Expected quantity",
    ]
    assert len(quantities(page)) == 4
    done = await enter(lead, "4,5", "", "8")
    assert done.headers["Location"] == f"{COUNTS}/1?done=enter"
    count = await count_of(lead)
    assert [line["counted_quantity"] for line in count["lines"]] == [4.5, None, 8, None]
    assert count["status"] == "IN_LUCRU"
    await enter(lead, "", "7")
    assert [line["counted_quantity"] for line in (await count_of(lead))["lines"]] == [4.5, 7, 8, None]
    page = await lead.get(f"{COUNTS}/1/enter")
    assert "4.5 counted" in page.text


async def test_two_counters_enter_at_once_and_none_is_in_the_way(lead: Visitor, full: Store) -> None:
    await make(lead, warehouse="MAIN")
    first, second = [await lead.get(f"{COUNTS}/1/enter") for _ in range(2)]
    names = quantities(first)
    for page, name in ((first, names[0]), (second, names[2])):
        seen = await lead.post(f"{COUNTS}/1/enter", {**form_of(page), name: "5"})
        assert seen.headers["Location"] == f"{COUNTS}/1?done=enter", seen.text
    assert [line["counted_quantity"] for line in (await count_of(lead))["lines"]] == [5, None, 5, None]


async def test_what_moved_since_the_page_was_shown_is_marked(lead: Visitor, full: Store) -> None:
    await make(lead, warehouse="MAIN")
    page = await lead.get(f"{COUNTS}/1/enter")
    full.world.clock.advance(30)
    await full.adjust(PLAIN, by=-1)
    full.world.clock.advance(30)
    names = quantities(page)
    await lead.post(f"{COUNTS}/1/enter", {**form_of(page), names[0]: "5", names[2]: "10"})
    assert [line["count_again"] for line in (await count_of(lead))["lines"]] == [False, False, True, False]
    page = await lead.get(f"{COUNTS}/1/enter")
    assert "10, but goods have moved: count again" in html.unescape(page.text)
    full.world.clock.advance(30)
    await enter(lead, "", "", "9")
    assert not any(line["count_again"] for line in (await count_of(lead))["lines"])


async def test_a_wrong_quantity_is_told_at_its_field_and_nothing_is_lost(lead: Visitor) -> None:
    await make(lead, warehouse="MAIN")
    seen = await enter(lead, "5", "", "many", "2")
    assert seen.status == 422
    assert [value for name, value in still_in(seen).items() if name in quantities(seen)] == ["5", "many", "2", ""]
    seen = await enter(lead, "", "", "", "2")
    assert "must be 1, or 0 if the serial was not found" in seen.text


async def test_goods_that_are_not_on_the_list_are_added(lead: Visitor) -> None:
    await make(lead, warehouse="MAIN", article_search="plain")
    page = await lead.get(f"{COUNTS}/1/found")
    row = {"lines.0.article_code": "L", "lines.0.lot_number": "L9", "lines.0.counted_quantity": "2"}
    seen = await lead.post(f"{COUNTS}/1/found", {**form_of(page), **row})
    assert seen.headers["Location"] == f"{COUNTS}/1?done=found"
    shown = [(line["lot_number"], line["difference"]) for line in (await count_of(lead))["lines"]]
    assert shown == [(None, None), ("L9", 2)]


async def test_differences_are_shown_and_booked(lead: Visitor, full: Store) -> None:
    await make(lead, warehouse="MAIN")
    await enter(lead, "4", "7", "8")
    page = await lead.get(f"{COUNTS}/1/book")
    told = [text_of(row) for row in re.findall(r"<tr>.*?</tr>", page.text, re.DOTALL)][1:]
    assert len(told) == 3, "without the line that agrees"
    assert "\N{MINUS SIGN}1" in told[0] or "-1" in told[0]
    await full.load(await full.order(PLAIN, 5))
    seen = await lead.post(f"{COUNTS}/1/book", form_of(page))
    assert seen.headers["Location"] == f"{COUNTS}/1?done=book"
    assert await full.balance(PLAIN) == (3, 0, 3)
    page = await lead.get(seen.headers["Location"])
    assert f'href="{COUNTS[:-6]}counts/new?count=1"' in page.text
    again = await lead.get(f"{COUNTS}/new?count=1")
    assert 'value="S"' in again.text
    assert 'value="S1"' in again.text


async def test_who_only_counts_sees_why_not_to_book(full: Store) -> None:
    visitor = await counter(full)
    await make(visitor, warehouse="MAIN")
    await enter(visitor, "4")
    page = await visitor.get(f"{COUNTS}/1")
    assert re.search(r"<button[^>]*disabled[^>]*>Book differences<", page.text)
    assert "stock:write" in page.text
    assert (await visitor.get(f"{COUNTS}/1/book")).status == 403


async def test_what_cannot_be_booked_is_told_with_its_reason(lead: Visitor, full: Store) -> None:
    await full.order(PLAIN, 9)
    await make(lead, warehouse="MAIN")
    await enter(lead, "5", "7", "8")
    page = await lead.get(f"{COUNTS}/1/book")
    seen = await lead.post(f"{COUNTS}/1/book", form_of(page))
    assert seen.status == 422
    assert "is not possible: only 8 would be left to sell, but orders have reserved 9" in seen.text


# --- from stock -------------------------------------------------------------------------------------------------


async def test_one_record_is_counted_at_once(lead: Visitor, full: Store) -> None:
    page = await lead.get(f"{STOCK}/1")
    assert f'href="{STOCK}/1/count"' in page.text
    page = await lead.get(f"{STOCK}/1/count")
    seen = await lead.post(f"{STOCK}/1/count", {**form_of(page), "quantity": "8"})
    assert seen.headers["Location"] == f"{STOCK}/1?done=count"
    assert await full.balance(PLAIN) == (8, 0, 8)
    assert (await count_of(lead))["status"] == "FINALIZAT"
    why = await lead.get(f"{STOCK}/1")
    assert re.search(r'Count\s+<a href="/companies/1/counts/1">CT-000001</a>\s+set the quantity to 8', why.text)
    why = await lead.get(f"{STOCK}/1/movements")
    assert "CT-000001" in why.text


async def test_one_record_whose_goods_moved_is_counted_again(lead: Visitor, full: Store) -> None:
    page = await lead.get(f"{STOCK}/1/count")
    full.world.clock.advance(30)
    await full.adjust(PLAIN, by=-1)
    full.world.clock.advance(30)
    seen = await lead.post(f"{STOCK}/1/count", {**form_of(page), "quantity": "10"})
    assert seen.status == 422
    assert "was counted before the goods moved: count again" in seen.text
    assert await full.balance(PLAIN) == (9, 0, 9)


async def test_who_may_only_count_is_led_to_a_count_of_the_record(full: Store) -> None:
    visitor = await counter(full)
    page = await visitor.get(f"{STOCK}/2")
    assert f'href="{COUNTS}/new?stock=2"' in page.text
    await make(visitor, "?stock=2")
    assert [line["lot_number"] for line in (await count_of(visitor))["lines"]] == ["L1", "L2"]


async def test_ticked_records_become_one_count(lead: Visitor) -> None:
    page = await lead.get(STOCK)
    assert "Create a count" in page.text
    (token,) = set(re.findall(r'name="form_token" value="(.*?)"', page.text))
    ticked = {"form_token": token, "act": "new-count", "record.1": "P · MAIN", "record.3": "S · MAIN"}
    seen = await lead.post(f"{STOCK}/bulk", ticked)
    assert seen.headers["Location"] == f"{COUNTS}/new?stock=1,3"
    await make(lead, "?stock=1,3")
    assert [line["article_code"] for line in (await count_of(lead))["lines"]] == ["P", "S"]
    seen = await lead.post(f"{STOCK}/bulk?article=P", {"form_token": token, "act": "new-count", "all": "1"})
    assert seen.headers["Location"] == f"{COUNTS}/new?stock=1,4"
    page = await lead.get(seen.headers["Location"])
    assert page.status == 422
    assert "A count covers one warehouse, but these stock records are in several: EAST, MAIN." in page.text


async def test_articles_and_warehouses_lead_to_a_count(lead: Visitor) -> None:
    page = await lead.get(f"/companies/1/articles/{LOTTED}")
    assert f'href="{COUNTS}/new?article={LOTTED}"' in page.text
    await make(lead, f"?article={LOTTED}")
    assert len((await count_of(lead))["lines"]) == 2
    page = await lead.get("/companies/1/warehouses/1")
    assert f'href="{COUNTS}/new?in_warehouse=1"' in page.text
    page = await lead.get(f"{COUNTS}/new?in_warehouse=1")
    assert 'value="MAIN"' in page.text


async def test_a_count_sheet_is_printed_blind_or_not(lead: Visitor) -> None:
    await make(lead, warehouse="MAIN")
    for name, is_blind in (("count-sheet", False), ("blind-count-sheet", True)):
        page = await lead.get(f"{COUNTS}/1/prints/{name}")
        assert page.status == 200
        assert "CT-000001" in page.text
        assert "<svg" in page.text
        told = [text_of(row) for row in re.findall(r"<tr>.*?</tr>", page.text, re.DOTALL)]
        assert len(told) == 5
        assert ("Expected" in told[0]) != is_blind
        assert ("10 " in told[3]) != is_blind


async def test_a_blind_count_has_no_sheet_that_shows_what_is_expected(full: Store) -> None:
    visitor = await counter(full)
    await make(visitor, warehouse="MAIN", is_blind="on")
    page = await visitor.get(f"{COUNTS}/1/prints/count-sheet")
    assert "Expected" not in page.text
    page = await visitor.get(f"{COUNTS}/1/enter")
    assert "Expected" not in page.text


async def test_serials_are_counted_one_by_one(lead: Visitor, full: Store) -> None:
    await make(lead, "?stock=3")
    await enter(lead, "0")
    page = await lead.get(f"{COUNTS}/1/book")
    await lead.post(f"{COUNTS}/1/book", form_of(page))
    assert await full.parts(SERIAL) == {}
