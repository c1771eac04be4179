"""The explanation of a quantity on the pages: the sum, the sentences, the chart, the reservations, and the
past.
"""

import html
import re
from decimal import Decimal

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, TO, first_cells, links, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.dock import LOT, SERIAL, Dock
from tests.support.goods import LOTTED, Store
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.contract.validation import validate_model
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.adjustments import adjust, quarantine
from wmsd.warehouse.stock.schema import Adjustment, Quarantining

DAY = 86_400
NOTHING = TO
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def visitor(dock: Dock) -> Visitor:
    """Sign in a platform admin at a dock with 20 of article A that were counted; an order reserves 3."""
    await dock.order()
    return await signed_in(dock.world)


async def why(visitor: Visitor, stock_id: int = 1, at: str = "") -> Seen:
    """Return the page of the stock record; sign in again, because days may have passed."""
    await visitor.sign_in(EMAIL, PASSWORD)
    seen = await visitor.get(f"/companies/1/stock/{stock_id}{at and f'?at={at}'}")
    assert seen.status == 200, seen.text
    return seen


def sum_of(seen: Seen) -> str:
    found = re.search(r'<p class="sum">(.*?)</p>', seen.text, re.DOTALL)
    assert found, seen.text
    return text_of(found[1]).replace(" ,", ",").replace(" .", ".")


def adds_up(seen: Seen) -> bool:
    """Return True if the numbers of the displayed sum add up to the quantity."""
    quantity, _, of_terms = sum_of(seen).partition(" = ")
    terms = [term.split() for term in of_terms.removesuffix(".").split(", ")]
    begins_with, *others = terms
    moved = sum(Decimal(amount) * (1 if sign == "+" else -1) for sign, amount, *_ in others)
    return Decimal(quantity) == Decimal(begins_with[0]) + moved


def sentences(seen: Seen) -> list[str]:
    (told,) = re.findall(r'<div class="why">(.*?)</div>', seen.text, re.DOTALL)
    found = [text_of(each) for each in re.findall(r"<p.*?>(.*?)</p>", told, re.DOTALL)[1:-1]]
    return [re.sub(r" ([.,])", r"\1", each) for each in found]


def strip(seen: Seen) -> list[str]:
    (found,) = re.findall(r'<section class="sheet strip".*?>(.*?)</section>', seen.text, re.DOTALL)
    return [text_of(each) for each in re.findall(r"<div>(.*?)</div>", found, re.DOTALL)]


def holders(seen: Seen) -> list[list[str]]:
    held = seen.text.partition("<h2>Reservations</h2>")[2]
    return rows(Seen(200, {}, held))


async def test_the_sum_begins_with_the_count_and_names_each_document(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(DAY)
    await dock.bring(1, {"quantity_um3pl": 48})
    dock.world.clock.advance(DAY)
    await dock.order({"article_id": 1, "quantity": 50}, status="LIVRAT")
    seen = await why(visitor)
    assert sum_of(seen) == "18 = 20 counted on 20 November, + 48 received, \N{MINUS SIGN} 50 shipped."
    assert adds_up(seen)
    assert sentences(seen) == [
        "A count found 20 on 20 November, 20 more than recorded before. Reason: import.",
        "Reception RC-000001 brought 48 on 21 November.",
        "Sales order SO-000002 took 50 on 22 November.",
    ]
    assert '<a href="/companies/1/receptions/1">RC-000001</a>' in seen.text
    assert "<title>Why 18? · A · wmsd</title>" in seen.text
    assert len(seen.text) < 20_000


async def test_two_documents_are_named_and_more_are_counted(visitor: Visitor, dock: Dock) -> None:
    for _ in range(2):
        dock.world.clock.advance(DAY)
        await dock.order(status="LIVRAT")
    assert sentences(await why(visitor))[1] == (
        "Sales orders SO-000002 and SO-000003 took 6 between 21 and 22 November. Show each movement"
    )
    dock.world.clock.advance(DAY)
    await dock.order(status="LIVRAT")
    seen = await why(visitor)
    assert sentences(seen)[1] == ("3 sales orders took 9 between 21 and 23 November. Show each movement")
    (address,) = re.findall(r'<a href="([^"]*)">Show each movement</a>', seen.text)
    each = await visitor.get(html.unescape(address))
    assert [(cells[1], cells[2], cells[6]) for cells in rows(each)] == [
        ("Shipped", "\N{MINUS SIGN} 3", f"SO-00000{number}") for number in (4, 3, 2)
    ]


async def test_returns_adjustments_and_quarantine_in_words(visitor: Visitor, dock: Dock) -> None:
    world, database = dock.world, await dock.world.database()
    back = [
        {"article_id": 1, "quantity": quantity, "disposition": disposition}
        for quantity, disposition in ((2, "RESTOC"), (1, "CARANTINA"), (4, "DISTRUS"))
    ]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": back}
    made = await world.send("POST", "/api/returns", body)
    for status in ("RECEPTIONAT", "FINALIZAT"):
        await world.send("PATCH", f"/api/returns/{made.id}", {"status": status})
    broken = validate_model(Adjustment, {"reason": "broken", "by": Decimal("-2.5")})
    await database.write(lambda tx: adjust(tx, 1, 1, broken))
    suspect = validate_model(Quarantining, {"reason": "suspect", "quantity": 1})
    await database.write(lambda tx: quarantine(tx, 1, 1, suspect))
    seen = await why(visitor)
    assert sum_of(seen) == "20.5 = 20 counted on 20 November, + 3 returned, \N{MINUS SIGN} 2.5 adjusted."
    assert adds_up(seen)
    assert sentences(seen)[1:] == [
        "Return RT-000001 brought 3 back on 20 November, 1 of it into quarantine; 4 more arrived to be destroyed. "
        "Show each movement",
        "An adjustment took 2.5 away on 20 November. Reason: broken.",
        "1 went into quarantine on 20 November. Reason: suspect.",
    ]
    destroyed = [cells[4] for cells in rows(await visitor.get("/companies/1/stock/1/movements"))]
    assert destroyed == ["0", "0", "4", "0", "0", "0"]


async def test_goods_with_lots(store: Store) -> None:
    visitor = await signed_in(store.world)
    await store.count("L,MAIN,L1,,5,1\nL,MAIN,L2,,3,\n")
    await store.adjust(LOTTED, by=2, lot_number="L2")
    seen = await why(visitor)
    assert sum_of(seen) == "10 = 8 counted on 20 November, + 2 adjusted."
    assert sentences(seen)[1] == "An adjustment added 2 on 20 November, lot L2. Reason: test."
    each = await visitor.get("/companies/1/stock/1/movements")
    assert [cells[4] for cells in rows(each)] == ["L2", "L2", "L1"]
    assert [cells[3] for cells in rows(each)] == ["0", "0", "+ 1"]


async def test_how_it_stands(visitor: Visitor, dock: Dock) -> None:
    assert strip(await why(visitor)) == [
        "20 in Main",
        "3 reserved by 1 document",
        "0 in quarantine",
        "17 available, enough: the minimum is 10",
    ]
    await dock.order({"article_id": 1, "quantity": 9})
    seen = await why(visitor)
    assert strip(seen)[1:] == [
        "12 reserved by 2 documents",
        "0 in quarantine",
        "8 available, low: the minimum is 10",
    ]
    assert '<b class="bad">8</b>' in seen.text
    assert strip(await why(visitor, 3))[3] == "5 available, low: the minimum is 10"
    assert strip(await why(visitor, 2))[3] == "1.5 available"


async def test_the_chart_is_told_in_words_and_as_a_table(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(DAY)
    await dock.order({"article_id": 1, "quantity": 17}, status="INCARCAT")
    dock.world.clock.advance(DAY)
    seen = await why(visitor)
    assert (
        'role="img" aria-label="Quantity from 20 November to 22 November: first 0, highest 20, lowest' in seen.text
    )
    assert 'class="minimum"' in seen.text
    assert "highest 20, lowest 0, minimum 10 (dashed)" in text_of(seen.text)
    assert rows(seen) == [
        ["20 Nov 2026, 12:00 UTC", "0"],
        ["20 Nov 2026, 12:00 UTC", "20"],
        ["21 Nov 2026, 12:00 UTC", "3"],
    ]
    assert "style=" not in seen.text
    assert 'class="minimum"' not in (await why(visitor, 2)).text


async def test_who_holds_it(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(DAY)
    await dock.order({"article_id": 1, "quantity": 4}, partner_id=2, status="IN_LUCRU")
    assert holders(await why(visitor)) == [
        ["SO-000001", "First", "Created", "3", "20 Nov 2026, 12:00 UTC"],
        ["SO-000002", "Second", "In work", "4", "21 Nov 2026, 12:00 UTC"],
    ]
    assert "No open document reserves this stock." in (await why(visitor, 2)).text


async def test_of_many_who_hold_it_the_oldest_are_shown(visitor: Visitor, dock: Dock) -> None:
    for _ in range(24):
        await dock.order({"article_id": 1, "quantity": 0.5})
    seen = await why(visitor)
    assert len(holders(seen)) == 20
    assert "5 more documents reserve 2.5." in text_of(seen.text)


async def test_the_whole_page_at_a_past_moment(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(DAY)
    await dock.order({"article_id": 1, "quantity": 8}, status="LIVRAT")
    dock.world.clock.advance(DAY)
    assert sum_of(await why(visitor)).startswith("12 = ")
    seen = await why(visitor, at="2026-11-20T13:00")
    assert sum_of(seen) == "20 = 20 counted on 20 November."
    assert strip(seen) == ["20 in Main, at that time", "0 in quarantine"]
    assert "No movements since then." in seen.text
    assert "Past reservations are not recorded." in seen.text
    assert 'type="datetime-local" value="2026-11-20T13:00"' in seen.text
    each = await visitor.get("/companies/1/stock/1/movements?until=1")
    assert first_cells(each) == ["20 Nov 2026, 12:00 UTC"]
    before = await why(visitor, at="2026-11-01T00:00")
    assert (sum_of(before), sentences(before)) == ("0 = 0 at the start.", ["No movements before this time."])


async def test_to_show_the_same_moment_again_changes_no_figure(visitor: Visitor, dock: Dock) -> None:
    """The field for the time has no seconds."""
    dock.world.clock.advance(1)
    await dock.order({"article_id": 1, "quantity": 8}, status="LIVRAT")
    dock.world.clock.advance(1)
    seen = await why(visitor)
    assert 'type="datetime-local" value=""' in seen.text
    (then, *_) = re.findall(r'<td><a href="\?at=([^"]*)">', seen.text)[::-1]
    seen = await why(visitor, at=then)
    fields = dict(re.findall(r'<input[^>]*name="(at|shown)"[^>]*value="([^"]*)"', seen.text))
    again = await why(visitor, at=f"{fields['at']}&shown={fields['shown']}")
    assert sum_of(again) == sum_of(seen) == "12 = 20 counted on 20 November, \u2212 8 shipped."
    for other in ("2026-11-20T12:00&shown=2026-11-20T12:01:00.000Z", "2026-11-20T12:00&shown=soon"):
        assert sum_of(await why(visitor, at=other)) == sum_of(await why(visitor, at="2026-11-20T12:00"))


async def test_a_record_that_nothing_has_moved(visitor: Visitor, dock: Dock) -> None:
    await (await dock.world.database()).write(lambda tx: stock.id_of(tx, LOT, 1))
    seen = await why(visitor, 4)
    assert (sum_of(seen), sentences(seen)) == ("0 = 0 at the start.", ["No movements yet."])
    assert strip(seen) == ["0 in Main", "0 reserved", "0 in quarantine", "0 available"]
    each = await visitor.get("/companies/1/stock/4/movements")
    assert (each.status, "No movements yet." in each.text) == (200, True)


async def test_one_goes_back_by_links(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(40 * DAY)
    await dock.order(status="LIVRAT")
    seen = await why(visitor)
    offered = dict(re.findall(r'<a class="button" href="\?at=([^"]*)">([^<]*)</a>', seen.text))
    assert [*offered.values()] == ["A day before", "A week before", "A month before", "First movement"]
    (month, _) = [at for at, name in offered.items() if name in ("A month before", "First movement")]
    assert sum_of(await why(visitor, at=month)) == "20 = 20 counted on 20 November."
    assert 'href="?">Now</a>' in (await why(visitor, at=month)).text


async def test_a_slider_goes_from_the_beginning_to_now(visitor: Visitor, dock: Dock) -> None:
    dock.world.clock.advance(DAY)
    for at, minutes in (("", DAY // 60), ("2026-11-20T13:00", 60)):
        (slider,) = re.findall(r'<input id="back" type="range"[^>]*>', (await why(visitor, at=at)).text)
        first, last, value = (int(each) for each in re.findall(r'(?:min|max|value)="(\d+)"', slider))
        assert (last - first, value - first) == (DAY // 60, minutes)


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ("yesterday", "yesterday must be an ISO 8601 date and time"),
        ("2026-13-45T10:00", "must be an ISO 8601 date and time"),
        ("9999-12-31T23:59", "is in the future"),
        ("2026-11-20T12:01", "is in the future"),
        ("0001-01-01T00:00%2B14:00", "must be in the years 1 to 9999"),
        ("%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "must be an ISO 8601 date and time"),
    ],
)
async def test_a_wrong_moment_is_told_beside_it_over_how_it_is_now(
    visitor: Visitor, at: str, sentence: str
) -> None:
    seen = await visitor.get(f"/companies/1/stock/1?at={at}")
    assert seen.status == 422
    assert sentence in text_of(seen.text)
    assert 'aria-invalid="true" aria-describedby="at-error"' in seen.text
    assert sum_of(seen) == "20 = 20 counted on 20 November."
    assert "<script>" not in seen.text


@pytest.mark.parametrize("at", ["0001-01-01T00:00", "1969-12-31T23:59:59.999Z", "2026-11-20T12:00:00.000Z"])
async def test_every_past_moment_has_a_page(visitor: Visitor, at: str) -> None:
    assert adds_up(await why(visitor, at=at))


@pytest.mark.parametrize("path", ["stock/99", "stock/99/movements", "stock/0", "stock/999999999999999"])
async def test_what_is_not_there_is_told(visitor: Visitor, path: str) -> None:
    seen = await visitor.get(f"/companies/1/{path}")
    assert (seen.status, seen.heading) == (404, "Page not found")


@pytest.mark.parametrize("path", ["stock/1", "stock/1/movements"])
async def test_another_company_is_as_none(shop: Shop, path: str) -> None:
    await shop.world.new_company("OTHER")
    visitor = await signed_in(shop.world, "OTHER", abilities=["stock:read"])
    assert (await visitor.get(f"/companies/1/{path}")).text == (await visitor.get(f"/companies/99/{path}")).text
    seen = await visitor.get(f"/companies/2/{path}")
    assert (seen.status, "There is no such stock record." in seen.text) == (404, True)


@pytest.mark.parametrize("path", ["stock/1", "stock/1?at=2026-11-20T12:00", "stock/1/movements"])
async def test_it_needs_the_ability_and_the_module(shop: Shop, path: str) -> None:
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    seen = await visitor.get(f"/companies/1/{path}")
    assert (seen.status, "You lack the ability stock:read." in seen.text) == (403, True)
    assert "stock" not in (await visitor.get("/companies/1/articles/1")).text.partition("<main")[
        2
    ].lower().replace("minimum stock", "")
    await shop.world.set_module("ACME", "stock", False)
    assert (await visitor.get(f"/companies/1/{path}")).status == 403


async def test_documents_that_a_person_may_not_read_are_told_by_their_ids(shop: Shop) -> None:
    await shop.order()
    await shop.order(status="LIVRAT")
    visitor = await signed_in(shop.world, "ACME", abilities=["stock:read"])
    seen = await why(visitor)
    assert sentences(seen)[1].startswith("Sales order 2 took 3 on 20 November")
    assert holders(seen) == [["sales order 1", NOTHING, NOTHING, "3", NOTHING]]
    each = await visitor.get("/companies/1/stock/1/movements")
    assert rows(each)[0][6] == "sales order 2"
    assert "SO-0000" not in seen.text + each.text
    assert "/sales-orders/" not in seen.text + each.text


async def test_partners_that_a_person_may_not_read_are_left_out(shop: Shop) -> None:
    await shop.order()
    visitor = await signed_in(shop.world, "ACME", abilities=["stock:read", "sales-orders:read"])
    assert [cells[:3] for cells in holders(await why(visitor))] == [["SO-000001", NOTHING, "Created"]]


async def test_script_in_reasons_and_names_is_text(visitor: Visitor, dock: Dock) -> None:
    reason = validate_model(Adjustment, {"reason": SCRIPT, "by": 1})
    await (await dock.world.database()).write(lambda tx: adjust(tx, 1, 1, reason))
    await dock.world.call("PUT", "/api/articles/1", {"code": "A", "name": SCRIPT}, events=["article.updated"])
    for path in ("stock/1", "stock/1/movements"):
        seen = await visitor.get(f"/companies/1/{path}")
        assert "&lt;script&gt;" in seen.text
        assert "<script>" not in seen.text


async def test_the_lists_of_stock_and_an_article_lead_to_it(visitor: Visitor) -> None:
    listed = await visitor.get("/companies/1/stock")
    assert '<a href="/companies/1/stock/1"><span>20</span> pcs</a>' in listed.text
    article = await visitor.get("/companies/1/articles/1")
    assert rows(article) == [
        ["MAIN Main", "20", "3", "0", "17", "20 Nov 2026, 12:00 UTC"],
        ["EAST East", "5", "0", "0", "5", "20 Nov 2026, 12:00 UTC"],
    ]
    of_stock = article.text.partition("<h2>Last movements</h2>")[0]
    assert re.findall(r'href="/companies/1/stock/(\d+)"', of_stock) == ["1", "3"]
    assert "No records yet." in (await visitor.get(f"/companies/1/articles/{LOT}")).text


async def test_the_movements_are_walked_by_their_links(visitor: Visitor, dock: Dock) -> None:
    serials = [f"S{number:03}" for number in range(120)]
    await dock.bring(SERIAL, {"quantity_um3pl": 120, "serial_data": serials})
    path, seen = "/companies/1/stock/4/movements?kind=receipt", []
    while path:
        page = await visitor.get(path)
        assert len(page.text) < 60_000
        seen += [cells[5] for cells in rows(page)]
        path = (links(page, "next") or [""])[0]
    assert seen == [*reversed(serials)]


@pytest.mark.parametrize("query", ["kind=theft", "after=x", "until=-1", "cursor=forged"])
async def test_a_wrong_choice_of_movements_is_told(visitor: Visitor, query: str) -> None:
    seen = await visitor.get(f"/companies/1/stock/1/movements?{query}")
    name = query.partition("=")[0]
    assert (seen.status, f'role="alert">{name} ' in seen.text) == (422, True)
