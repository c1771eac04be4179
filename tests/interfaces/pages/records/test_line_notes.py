"""Each line of a form displays the name of its article, the available quantity, and the number of units in a 3PL
unit.
"""

import re

import pytest

from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.records.test_document_work import OF_OFFICE, ORDERS, PURCHASES, RECEPTIONS, lines
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop

HEAD = {"partner": "P1", "warehouse": "MAIN"}


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    return await signed_in(shop.world, "ACME", abilities=OF_OFFICE)


def notes(seen: Seen, field: str = "article_code") -> list[str]:
    """Return the notes beside the fields of this name, line by line."""
    cells = re.findall(r"<td.*?</td>", seen.text, re.DOTALL)
    found = [re.search(r'<span class="means small">(.*?)</span>', cell) for cell in cells if f'.{field}"' in cell]
    return [text_of(each[1]) if each else "" for each in found]


async def test_what_is_short_stands_beside_each_line(office: Visitor, shop: Shop) -> None:
    form = form_of(await office.get(f"{ORDERS}/new"))
    await shop.order()
    typed = lines(("A", "18"), ("B", "1"), ("NONE", "1"), ("<b>", "1"))
    seen = await office.post(f"{ORDERS}/new", {**form, **HEAD, **typed})
    assert seen.status == 422
    assert notes(seen)[:5] == ["Alpha: 17 pcs available", "Beta: 1.5 pcs available", "", "", ""]
    east = await office.post(f"{ORDERS}/new", {**form, **HEAD, "warehouse": "EAST", **typed})
    assert notes(east)[:2] == ["Alpha: 5 pcs available", "Beta: 0 pcs available"]
    own = await office.post(f"{ORDERS}/new", {**form, **HEAD, **typed, "lines.0.warehouse": "EAST"})
    assert notes(own)[:2] == ["Alpha: 5 pcs available", "Beta: 1.5 pcs available"]
    unknown = await office.post(f"{ORDERS}/new", {**form, **HEAD, "warehouse": "WEST", **typed})
    assert notes(unknown)[:2] == ["Alpha", "Beta"]
    nowhere = await office.post(f"{ORDERS}/new", {**form, **HEAD, "warehouse": "", **typed})
    assert notes(nowhere)[0] == "Alpha: 22 pcs available"


async def test_an_article_that_was_switched_off_meanwhile(office: Visitor, shop: Shop) -> None:
    form = form_of(await office.get(f"{ORDERS}/new"))
    answer = await shop.world.send("PATCH", "/api/articles/1", {"active": False})
    assert answer.status == 200
    seen = await office.post(f"{ORDERS}/new", {**form, **HEAD, **lines(("A", "1"))})
    assert notes(seen)[0] == "Alpha: not active"
    assert "is an inactive article" in seen.text
    assert form_of(Seen(200, {}, seen.text))["lines.0.quantity"] == "1"


async def test_a_form_of_a_change_begins_with_them(office: Visitor, shop: Shop) -> None:
    await shop.order()
    assert notes(await office.get(f"{ORDERS}/1/change"))[0] == "Alpha: 17 pcs available"


@pytest.mark.parametrize(
    ("lacks", "shown"),
    [("stock:read", "Alpha"), ("articles:read", ""), ("warehouses:read", "Alpha")],
)
async def test_they_show_what_the_person_may_read(shop: Shop, lacks: str, shown: str) -> None:
    visitor = await signed_in(shop.world, "ACME", abilities=[each for each in OF_OFFICE if each != lacks])
    seen = await visitor.post(
        f"{ORDERS}/new", {**form_of(await visitor.get(f"{ORDERS}/new")), **HEAD, **lines(("A", "99"))}
    )
    assert seen.status == 422
    assert notes(seen)[0] == shown


async def test_a_thousand_lines_are_looked_up_at_once(office: Visitor) -> None:
    typed = lines(*((code, "x") for code in ["A", "B"] * 500))
    seen = await office.post(f"{ORDERS}/new", {**form_of(await office.get(f"{ORDERS}/new")), **HEAD, **typed})
    assert notes(seen)[999] == "Beta: 1.5 pcs available"


async def test_units_of_receptions_are_explained(office: Visitor, shop: Shop) -> None:
    await shop.world.send("PATCH", "/api/articles/1", {"unit_3pl": "box", "um3pl_factor": 12})
    done = await sent(office, f"{PURCHASES}/new", **HEAD, **lines(("A", "24"), ("B", "2"), name="items"))
    assert done.status == 303, done.text
    page = await office.get(f"{RECEPTIONS}/new?purchase_order=1")
    assert notes(page) == ["Alpha", "Beta"]
    assert notes(page, "quantity_um3pl") == [
        "still to receive: 2 box, 12 pcs in one box",
        "still to receive: 2 pcs",
    ]
    wrong = await office.post(f"{RECEPTIONS}/new", {**form_of(page), "selected_items.0.quantity_um3pl": "many"})
    assert wrong.status == 422
    assert notes(wrong, "quantity_um3pl") == [
        "still to receive: 2 box, 12 pcs in one box",
        "still to receive: 2 pcs",
    ]
