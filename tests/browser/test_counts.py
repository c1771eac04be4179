"""Stock counts in a real browser: differences that are booked after goods have moved, and goods to count again."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House, new_token
from tests.support.chromium import barriers
from tests.support.looking import SCREENS

STOCK = "/companies/1/stock"
COUNTS = "/companies/1/counts"
ARTICLES = ("22112", "22113", "22114")


class Api:
    """Access to the same counts by the API."""

    def __init__(self, page: Page, house: House) -> None:
        self._token, self._house = new_token(page, "*"), house

    def send(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self._house.server.send(method, path, body, self._token, 1)
        assert status in (200, 201), answer
        return answer

    def ships(self, article: str, quantity: int) -> None:
        lines = [{"article_code": article, "quantity": quantity}]
        order = self.send("POST", "/api/v2/sales-orders", {"partner_id": 1, "warehouse_id": 1, "lines": lines})
        for status in ("IN_LUCRU", "INCARCAT"):
            self.send("PATCH", f"/api/v2/sales-orders/{order['id']}/status", {"status": status})

    def there(self, article: str) -> float:
        (record,) = self.send("GET", f"/api/v2/stock?article_code={article}")["data"]
        return float(record["quantity"])


def make(page: Page) -> str:
    """Create a count of the articles, and return its address."""
    page.goto(f"{COUNTS}/new")
    page.fill("#warehouse", "MAIN")
    for number, article in enumerate(ARTICLES):
        page.fill(f"[id='lines.{number}.article_code']", article)
        page.keyboard.press("Escape")
    page.click("main form .button.main")
    expect(page.locator(".note.good")).to_have_text("Count created.")
    return page.url.partition("?")[0]


def enter(page: Page, quantities: dict[int, float]) -> None:
    for number, quantity in quantities.items():
        page.fill(f"[id='lines.{number}.counted_quantity']", f"{quantity:g}")
    page.click("main form .button.main")
    expect(page.locator(".note.good")).to_have_text("The quantities are entered.")


def test_differences_are_booked_after_goods_have_moved(page: Page, house: House) -> None:
    api = Api(page, house)
    first, second, third = (api.there(article) for article in ARTICLES)
    count = make(page)
    expect(page.locator("main")).to_contain_text("3 lines still need a quantity.")
    page.click("text=Enter quantities")
    enter(page, {0: first - 3, 1: second})
    expect(page.locator("main")).to_contain_text("1 line still needs a quantity.")
    page.click("text=Enter quantities")
    page.fill("[id='lines.2.counted_quantity']", f"{third + 2:g}")
    page.keyboard.press("Enter")  # in the last line, Enter sends the form
    expect(page.locator("main")).not_to_contain_text("needs a quantity")
    api.ships(ARTICLES[0], 4)
    page.goto(count)
    page.locator(".acts >> text=Book").click()
    expect(page.locator("main table tbody tr")).to_have_count(2)
    page.click("main form .button.final")
    expect(page.locator("[aria-current=step]")).to_contain_text("Finished")
    assert [api.there(article) for article in ARTICLES] == [first - 3 - 4, second, third + 2]


def test_enter_goes_from_line_to_line(page: Page, house: House) -> None:
    """Enter goes to the next line, also from the keyboards of phones.

    A form that is sent after its first line would be a nuisance.
    """
    make(page)
    page.click("text=Enter quantities")
    page.locator("[id='lines.0.counted_quantity']").focus()
    for _ in ARTICLES:
        page.keyboard.type("5")
        page.keyboard.press("Enter")
    expect(page.locator(".note.good")).to_have_text("The quantities are entered.")
    expect(page.locator("main")).not_to_contain_text("need a quantity")


def test_goods_that_move_while_they_are_counted_are_counted_again(page: Page, house: House) -> None:
    api = Api(page, house)
    first, second, _ = (api.there(article) for article in ARTICLES)
    count = make(page)
    page.click("text=Enter quantities")
    api.ships(ARTICLES[0], 4)
    enter(page, {0: first, 1: second - 1})
    page.click("text=Enter quantities")
    expect(page.locator("main table tbody tr").nth(0)).to_contain_text("goods have moved: count again")
    enter(page, {0: first - 5})
    page.goto(f"{count}/book")
    page.click("main form .button.final")
    expect(page.locator(".note.good")).to_contain_text("The count is finished")
    assert [api.there(article) for article in ARTICLES[:2]] == [first - 5, second - 1]
    page.click("text=Count the rest")
    expect(page.locator("[id='lines.0.article_code']")).to_have_value(ARTICLES[2])


def test_one_record_is_counted_in_three_clicks(page: Page, house: House) -> None:
    api = Api(page, house)
    before = api.there(ARTICLES[1])
    page.goto(f"{STOCK}?article={ARTICLES[1]}")
    page.locator(f"tbody a[href^='{STOCK}/']").first.click()
    page.locator(".acts >> text=Count").first.click()
    expect(page.locator("#quantity")).to_be_focused()
    page.keyboard.type(f"{before - 1:g}")
    page.keyboard.press("Enter")
    expect(page.locator(".note.good")).to_have_text("The stock is counted.")
    assert api.there(ARTICLES[1]) == before - 1
    expect(page.locator("main")).to_contain_text(re.compile(r"Count\s+CT-\d+\s+set the quantity to"))


def test_ticked_records_are_counted_together(page: Page, house: House) -> None:
    page.goto(STOCK)
    for place in (0, 1):
        page.locator("tbody .tick input").nth(place).check()
    page.select_option("#act", "new-count")
    page.click("text=Apply to selected")
    expect(page.locator("#warehouse")).to_have_value("MAIN")
    page.click("main form .button.main")
    expect(page.locator("main table.lines").first.locator("tbody tr")).to_have_count(2)


@pytest.mark.parametrize("path", ["1", "2", "2/enter", "2/found", "2/book", "new"])
def test_nothing_keeps_anybody_out(page: Page, house: House, path: str) -> None:
    page.goto(f"{COUNTS}/{path}")
    for width in SCREENS.values():
        page.set_viewport_size({"width": width, "height": 900})
        assert barriers(page) == [], width
