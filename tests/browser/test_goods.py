"""Tests of goods that arrive in parts or in excess, of returned goods, and of two people who work
on one document.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House, new_token
from tests.support.chromium import opened

COMPANY: Final = "/companies/1"
NEXT: Final = "[data-live=steps] .main"
"""The button for the next step of a document."""
SEND: Final = "main form.fields .acts button.main"
SURE: Final = "main form.fields .acts button.final"
"""The button that confirms an act that is final."""
NOW: Final = "[aria-current=step]"
OPEN: Final = "[id='selected_items.0.quantity_um3pl']"
PLACE: Final = {"partner_id": 1, "warehouse_id": 1}

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def make(browser: Browser, house: House) -> Iterator[Make]:
    """Yield a function that creates a record by the API and returns it."""
    with opened(browser, house.address, storage_state=house.state) as page:
        token = new_token(page, "*")

    def send(kind: str, **body: Any) -> Any:
        status, answer = house.server.send("POST", f"/api/{kind}", body, token)
        assert status == 201, answer
        return answer

    yield send


def received(page: Page, quantity: str) -> None:
    """Receive the quantity of the order whose page is open, and finish the reception."""
    page.click(NEXT)
    page.fill(OPEN, quantity)
    page.click("button[name=then]")


def in_stock(page: Page, code: str) -> list[str]:
    """Return the quantity of the only stock record of an article, its reserved quantity, and its quantity in
    quarantine.
    """
    page.goto(f"{COMPANY}/stock?article_code={code}")
    cells = page.locator("tbody tr td.num").all_inner_texts()
    return [each.strip().removesuffix(" pcs") for each in cells[:3]]


def test_an_order_is_received_in_parts_and_no_more_than_may_be(page: Page, make: Make) -> None:
    make("articles", code="IN-PARTS", name="In parts", over_receipt_pct=10)
    order = make("purchase-orders", **PLACE, items=[{"article_code": "IN-PARTS", "quantity": 10}])
    address = f"{COMPANY}/purchase-orders/{order['id']}"
    page.goto(address)
    received(page, "6")
    page.click(SURE)
    page.goto(address)
    expect(page.locator(NOW)).to_contain_text("Partly received")
    page.click(NEXT)
    expect(page.locator(OPEN)).to_have_value("4")
    page.goto(address)
    received(page, "6")
    expect(page.locator("[id='selected_items.0.quantity_um3pl-error']")).to_contain_text(
        "is more than the order still allows: you entered 6, and 5 of 11 can still be received"
    )
    expect(page.locator(OPEN)).to_have_value("6")
    page.fill(OPEN, "5")
    page.click("button[name=then]")
    page.click(SURE)
    expect(page.locator(NOW)).to_contain_text("Finished")
    page.goto(address)
    expect(page.locator(NOW)).to_contain_text("Received")
    assert in_stock(page, "IN-PARTS") == ["11", "0", "0"]


def test_what_comes_back_goes_into_quarantine(page: Page, make: Make) -> None:
    make("articles", code="COMES-BACK", name="Comes back")
    bought = make("purchase-orders", **PLACE, items=[{"article_code": "COMES-BACK", "quantity": 5}])
    selected = [{"po_item_id": bought["items"][0]["id"], "quantity_um3pl": 5}]
    make(
        "receptions",
        purchase_order_id=bought["id"],
        warehouse_id=1,
        selected_items=selected,
        status="FINALIZAT",
    )
    order = make("sales-orders", **PLACE, lines=[{"article_code": "COMES-BACK", "quantity": 4}])
    page.goto(f"{COMPANY}/sales-orders/{order['id']}")
    for click in (NEXT, NEXT, NEXT, SURE):
        page.click(click)
    page.click("text=Return goods")
    page.fill("[id='lines.0.quantity']", "3")
    page.click(SEND)
    page.click(NEXT)
    page.click(SEND)
    expect(page.locator(NOW)).to_contain_text("Received")
    page.click("text=Change")
    page.select_option("[id='lines.0.disposition']", "CARANTINA")
    page.click(SEND)
    page.click(NEXT)
    page.click(SURE)
    expect(page.locator(NOW)).to_contain_text("Finished")
    assert in_stock(page, "COMES-BACK") == ["4", "0", "3"]


def test_two_people_at_one_order_do_not_undo_each_other(
    page: Page, browser: Browser, house: House, make: Make
) -> None:
    order = make("sales-orders", **PLACE, lines=[{"article_code": "22470", "quantity": 1}])
    address = f"{COMPANY}/sales-orders/{order['id']}"
    with opened(browser, house.address, storage_state=house.state, java_script_enabled=False) as other:
        other.goto(address)
        page.goto(f"{address}/change")
        page.fill("[id='lines.0.quantity']", "2")
        other.click("text=Change")
        other.fill("[id='lines.0.quantity']", "3")
        page.click(SEND)
        expect(page.locator(".note.good")).to_have_text("The sales order is changed.")
        other.click(SEND)
        expect(other.locator("[aria-label='Differences'] tbody")).to_contain_text("2")
        expect(other.locator("[id='lines.0.quantity']")).to_have_value("3")
        other.goto(address)
        page.click(NEXT)
        expect(page.locator(NOW)).to_contain_text("In work")
        other.click(NEXT)
        expect(other.locator("[role=alert]")).to_contain_text("This record was changed after you opened the page")
        expect(other.locator(NOW)).to_contain_text("In work")
        expect(other.locator("main")).to_contain_text("22470")
