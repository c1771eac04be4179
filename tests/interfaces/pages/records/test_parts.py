"""The pages of lots and serials: location, origin and destination of each, and the links to these pages."""

import html
import re
from typing import Any
from urllib.parse import quote

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_browse import SCRIPT, first_cells, links, rows, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.dock import LOT, SERIAL, Dock

ODD = ["..", ".", "a/b", "L%2F1", "a b+c", "?x=1&y#z", "é\N{PILE OF POO}", SCRIPT, "x" * 64, "'\"<"]
A_LOT = f"/companies/1/articles/{LOT}/lot?number=L1"


def section(seen: Seen, heading: str) -> list[list[str]]:
    """Return the rows of the table under the heading."""
    assert seen.status == 200, seen.text
    found = re.search(rf"<h2>{heading}</h2>(.*?)</section>", seen.text, re.DOTALL)
    assert found, (heading, seen.text)
    return rows(Seen(200, {}, found[1]))


@pytest.fixture
async def visitor(dock: Dock) -> Visitor:
    """Sign in a platform admin. 10 of lot L1 came from the supplier, and 4 were delivered to P1."""
    await dock.bring(LOT, {"quantity_um3pl": 10, "lot_number": "L1"})
    line = {"article_id": LOT, "quantity": 4, "lot_number": "L1"}
    await dock.order(line, status="LIVRAT", tracking_number="TRACK-7")
    return await signed_in(dock.world)


async def test_a_lot_says_where_it_is_where_it_came_from_and_where_it_went(visitor: Visitor, dock: Dock) -> None:
    await dock.order({"article_id": LOT, "quantity": 1, "lot_number": "L1"})
    seen = await visitor.get(A_LOT)
    assert seen.heading == "Lot L1"
    assert section(seen, "Current stock") == [["MAIN", "6", "1", "0", "5"]]
    assert section(seen, "Reservations") == [["SO-000002", "First", "Created", "1"]]
    ((_, what, warehouse, quantity, document, partner, *_),) = section(seen, "Incoming movements")
    assert (what, warehouse, quantity, document) == ("Received", "MAIN", "+ 10", "RC-000001")
    assert partner not in ("", "\N{EN DASH}")
    ((_, what, _, quantity, document, partner, tracking, *_),) = section(seen, "Outgoing movements")
    assert (what, quantity) == ("Shipped", "\N{MINUS SIGN} 4")
    assert (document, partner, tracking) == ("SO-000001", "First", "TRACK-7")
    assert '<a href="/companies/1/sales-orders/1">SO-000001</a>' in seen.text
    assert f'<a href="/companies/1/articles/{LOT}">LOT</a>' in seen.text


async def test_a_serial_that_has_left_says_where_it_went(dock: Dock) -> None:
    await dock.bring(SERIAL, {"quantity_um3pl": 2, "serial_data": ["S1", "S2"]})
    await dock.order({"article_id": SERIAL, "quantity": 1, "serials": ["S1"]}, status="INCARCAT")
    visitor = await signed_in(dock.world)
    seen = await visitor.get(f"/companies/1/articles/{SERIAL}/serial?number=S1")
    assert "This serial is no longer in stock." in seen.text
    assert [cells[4] for cells in section(seen, "Incoming movements")] == ["RC-000001"]
    assert [cells[4] for cells in section(seen, "Outgoing movements")] == ["SO-000001"]
    there = await visitor.get(f"/companies/1/articles/{SERIAL}/serial?number=S2")
    assert section(there, "Current stock") == [["MAIN", "\N{EN DASH}", "1", "0", "0", "1"]]
    listed = await visitor.get(f"/companies/1/articles/{SERIAL}/serials")
    assert rows(listed) == [["S2", "MAIN", "\N{EN DASH}", "no", "no"]]


@pytest.mark.parametrize("number", ODD)
async def test_a_lot_of_any_characters_has_a_page_that_search_and_lists_lead_to(dock: Dock, number: str) -> None:
    await dock.bring(LOT, {"quantity_um3pl": 10, "lot_number": number})
    visitor = await signed_in(dock.world)
    address = f"/companies/1/articles/{LOT}/lot?number={quote(number, safe='')}"
    seen = await visitor.get(address)
    assert seen.heading == f"Lot {number}"
    assert SCRIPT not in seen.text
    for page in (f"articles/{LOT}", f"articles/{LOT}/lots", "receptions/1", f"articles/{LOT}/movements"):
        assert address in leading(await visitor.get(f"/companies/1/{page}")), page
    stock = await dock.detail(LOT)
    for page in (f"stock/{stock['id']}", f"stock/{stock['id']}/movements"):
        assert address in leading(await visitor.get(f"/companies/1/{page}")), page


def leading(seen: Seen) -> list[str]:
    assert seen.status == 200, seen.text
    return [html.unescape(each) for each in re.findall(r'href="(.*?)"', seen.text)]


async def test_search_opens_the_page_of_a_lot(visitor: Visitor) -> None:
    world = visitor.world
    await world.call(
        "POST", "/api/articles", {"code": "L1-X", "name": "Other"}, status=201, events=["article.created"]
    )
    assert (await visitor.get("/companies/1/search?text=l1")).goes_to == A_LOT
    found = await visitor.get("/companies/1/search?text=l1x")
    assert found.goes_to == "/companies/1/articles/" + str(
        (await world.rows("SELECT max(id) FROM articles"))[0][0]
    )


async def test_unknown_numbers_and_articles_are_not_found(visitor: Visitor) -> None:
    for address in (
        f"articles/{LOT}/lot?number=L9",
        f"articles/{LOT}/lot",
        "articles/1/lot?number=L1",
        "articles/999/lot?number=L1",
        "articles/999/movements",
        f"articles/{LOT}/serial?number=L1",
        f"articles/{LOT}/lot?number={'x' * 3000}",
        f"articles/{LOT}/lot?number=%00",
    ):
        assert (await visitor.get(f"/companies/1/{address}")).status == 404, address


async def test_what_one_may_not_read_is_not_told(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("stock@example.com", "member", ["ACME"], ["stock:read"])
    await world.new_user("orders@example.com", "member", ["ACME"], ["sales-orders:read", "articles:read"])
    stock = await signed_in_as(world, "stock@example.com")
    seen = await stock.get(A_LOT)
    assert [cells[4:6] for cells in section(seen, "Outgoing movements")] == [["sales order 1", "\N{EN DASH}"]]
    assert "TRACK-7" not in seen.text
    assert "SO-000001" not in seen.text
    orders = await signed_in_as(world, "orders@example.com")
    for page in ("lot?number=L1", "lots", "serials", "serial?number=S1", "movements"):
        assert (await orders.get(f"/companies/1/articles/{LOT}/{page}")).status == 403, page
    assert "lot?number" not in (await orders.get("/companies/1/sales-orders/1")).text
    assert "Last movements" not in (await orders.get(f"/companies/1/articles/{LOT}")).text


async def test_another_company_has_its_own_lots(visitor: Visitor) -> None:
    other = await visitor.world.new_company("OTHER")
    assert (await visitor.get(f"/companies/{other}/articles/{LOT}/lot?number=L1")).status == 404


async def test_a_lot_that_moved_often_is_shown_by_its_newest_movements(visitor: Visitor, dock: Dock) -> None:
    await (await dock.world.database()).write(lambda tx: tx.execute(MANY))
    seen = await visitor.get(A_LOT)
    assert len(section(seen, "Incoming movements")) == 20
    assert len(seen.text) < 100_000
    every = await visitor.get(f"/companies/1/articles/{LOT}/movements?lot_number=L1")
    assert len(first_cells(every)) == 50
    (after,) = links(every, "next")
    assert len(first_cells(await visitor.get(after))) == 50
    only = await visitor.get(f"/companies/1/articles/{LOT}/movements?lot_number=L1&direction=out")
    assert {cells[1] for cells in rows(only)} == {"Adjusted"}
    assert all(cells[3].startswith("\N{MINUS SIGN}") for cells in rows(only))


MANY = f"""
    WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 20000)
    INSERT INTO stock_movements (stock_id, quantity, kind, quarantined, lot_number, actor, occurred_at)
    SELECT (SELECT id FROM stock WHERE article_id = {LOT}), iif(n % 2, 1000000, -1000000), 'adjustment', 0, 'L1',
        'wmsd', '2026-11-20T08:00:00.000Z'
    FROM many
"""


async def test_many_lots_and_serials_are_listed_page_by_page(dock: Dock) -> None:
    serials = [f"S{number:03}" for number in range(120)]
    await dock.bring(SERIAL, {"quantity_um3pl": 120, "serial_data": serials})
    items: list[dict[str, Any]] = [{"quantity_um3pl": 1, "lot_number": f"L{number}"} for number in range(60)]
    await dock.bring(LOT, *items)
    visitor = await signed_in(dock.world)
    seen: list[str] = []
    address = f"/companies/1/articles/{SERIAL}/serials"
    while address:
        page = await visitor.get(address)
        seen += first_cells(page)
        address = next((f"/companies/1/articles/{SERIAL}/serials{each}" for each in links(page, "next")), "")
    assert seen == serials
    lots = await visitor.get(f"/companies/1/articles/{LOT}/lots")
    assert len(first_cells(lots)) == 50
    rest = await visitor.get(f"/companies/1/articles/{LOT}/lots{links(lots, 'next')[0]}")
    assert first_cells(rest) == [f"L{number}" for number in range(50, 60)]
    assert "There are more." in (await visitor.get(f"/companies/1/articles/{LOT}")).text


async def test_the_page_speaks_romanian(visitor: Visitor) -> None:
    token = (await visitor.get("/companies/1/stock")).form_token
    await visitor.post("/account/language", {"form_token": token, "language": "ro"})
    seen = await visitor.get(A_LOT)
    assert section(seen, "Intrări")
