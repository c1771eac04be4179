"""Tests of how many keys and clicks a day's work takes, in addition to typed codes, quantities and references."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House, new_token
from tests.support.chromium import opened

COMPANY: Final = "/companies/1"
ARTICLES: Final = ("22470", "85123A", "84029E", "22457", "22423")
LINES: Final = [{"article_code": code, "quantity": 1} for code in ARTICLES]
NEXT: Final = "[data-live=steps] .main"
"""The button for the next step of a document."""


class Hand:
    """The keys and clicks of a person. Keys that are pressed together count once."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0
        self.clicks = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def type(self, text: str) -> None:
        """Type a code, a quantity or a reference, without counting the keys."""
        self.page.keyboard.type(text)

    def click(self, place: str) -> None:
        self.page.click(place)
        self.clicks += 1


@pytest.fixture
def hand(page: Page) -> Hand:
    return Hand(page)


@pytest.fixture(scope="module")
def token(browser: Browser, house: House) -> Iterator[str]:
    with opened(browser, house.address, storage_state=house.state) as page:
        yield new_token(page, "*")


def made(house: House, token: str, kind: str, **body: Any) -> str:
    """Create a document by the API and return its address on the pages."""
    document = {"partner_id": 1, "warehouse_id": 1, **body}
    status, answer = house.server.send("POST", f"/api/{kind}", document, token)
    assert status == 201, answer
    return f"{COMPANY}/{kind}/{answer['id']}"


def test_an_order_of_five_lines(hand: Hand, house: House, token: str) -> None:
    """An order is created from any page of the company without the mouse."""
    page = hand.page
    page.goto(f"{COMPANY}/articles")
    hand.press("g", "o")
    expect(page.locator("h1")).to_have_text("Sales orders")
    hand.press("n")
    expect(page.locator("#partner")).to_be_focused()
    hand.type("12347")
    hand.press("Enter")
    hand.type("MAIN")
    for number, code in enumerate(ARTICLES):
        article = page.locator(f"[id='lines.{number}.article_code']")
        while not article.evaluate("(field) => field === document.activeElement"):
            hand.press("Tab" if not number else "Enter")
        hand.type(code)
        hand.press("Enter")
        hand.type(str(number + 1))
    hand.press("Control+Enter")
    expect(page.locator(".note.good")).to_have_text("Sales order created.")
    order = page.url.partition("?")[0].rpartition("/")[2]
    _, record = house.server.get(f"/api/sales-orders/{order}", token)
    ordered = [(each["article_code"], each["quantity"]) for each in record["lines"]]
    assert ordered == [(code, number + 1) for number, code in enumerate(ARTICLES)]
    assert (hand.keys, hand.clicks) == (18, 0), "the goal is 25"


def test_ten_lines_are_received_as_ordered(hand: Hand, house: House, token: str) -> None:
    """Finishing is final, so wmsd asks for confirmation: the third click."""
    items = [{"article_code": code, "quantity": 2} for code in ARTICLES * 2]
    hand.page.goto(made(house, token, "purchase-orders", items=items))
    hand.click(NEXT)
    hand.click("text=Receive and finish")
    hand.click("main form.fields .acts button.final")
    expect(hand.page.locator(".note.good")).to_have_text("The reception is finished: its goods are in stock.")
    expect(hand.page.locator("[aria-current=step]")).to_contain_text("Finished")
    assert (hand.keys, hand.clicks) == (0, 3)


def test_an_order_is_moved(hand: Hand, house: House, token: str) -> None:
    hand.page.goto(made(house, token, "sales-orders", lines=LINES))
    hand.click(NEXT)
    expect(hand.page.locator("[aria-current=step]")).to_contain_text("In work")
    assert (hand.keys, hand.clicks) == (0, 1)


def test_an_order_is_found_by_a_part_of_its_customers_reference(hand: Hand, house: House, token: str) -> None:
    address = made(house, token, "sales-orders", lines=LINES, customer_reference="Bestellung 77/Q4-1138")
    hand.page.goto(f"{COMPANY}/articles")
    hand.press("/")
    hand.type("q41138")
    hand.press("Enter")
    expect(hand.page.locator(f"main a[href='{address}']")).to_be_visible()
    assert (hand.keys, hand.clicks) == (2, 0)
