"""The documents of an office worker in a real browser: typed by keyboard, pasted from a spreadsheet, and moved to
other statuses.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House, new_token
from tests.support.chromium import opened

NEW = "/companies/1/sales-orders/new"
PARTNERS = re.compile(r"/search/partners\?")
PASTE = """(text) => {
    const clipboard = new DataTransfer();
    clipboard.setData("text/plain", text);
    const pasted = { clipboardData: clipboard, bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", pasted));
}"""


@pytest.fixture
def no_script(browser: Browser, house: House) -> Iterator[Page]:
    with opened(browser, house.address, storage_state=house.state, java_script_enabled=False) as opened_page:
        yield opened_page


def cell(row: int, field: str) -> str:
    return f"[id='lines.{row}.{field}']"


def filled(page: Page) -> list[tuple[str, str]]:
    """Return the articles and quantities of the lines that are not empty."""
    rows = page.locator("fieldset.rows tbody tr").all()
    articles = [row.locator("input").nth(0).input_value() for row in rows]
    quantities = [row.locator(".num input").input_value() for row in rows]
    return [each for each in zip(articles, quantities, strict=True) if any(each)]


def an_order(page: Page, house: House) -> int:
    token = new_token(page, "sales-orders:read", "sales-orders:write")
    body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_code": "22423", "quantity": 1}]}
    status, order = house.server.send("POST", "/api/v2/sales-orders", body, token, 1)
    assert status == 201, order
    return int(order["id"])


def choose(page: Page, text: str) -> None:
    """Type into the focused field, and choose the first suggestion."""
    page.keyboard.type(text)
    expect(page.locator("#choices li").first).to_be_visible()
    page.keyboard.press("Enter")


def test_an_order_is_made_by_the_keyboard_alone(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus("#partner")
    choose(page, "customer 12347")
    expect(page.locator("#warehouse")).to_be_focused()
    page.keyboard.type("MAIN")
    page.focus(cell(0, "article_code"))
    choose(page, "wicker large")
    expect(page.locator(cell(0, "quantity"))).to_be_focused()
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.locator(cell(1, "article_code"))).to_be_focused()
    choose(page, "85123")
    page.keyboard.type("999999")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".error")).to_contain_text("is more than the available stock")
    expect(page.locator("[aria-invalid=true]")).to_be_focused()
    page.locator("[aria-invalid=true]").fill("4")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note.good")).to_have_text("Sales order created.")
    page.click("text=Start work")
    expect(page.locator("[aria-current=step]")).to_contain_text("In work")
    page.click("text=Undo")
    expect(page.locator("[aria-current=step]")).to_contain_text("Created")


def test_a_key_during_a_slow_request_still_brings_the_list(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus("#partner")
    page.route(PARTNERS, lambda _: None, times=1)  # the first request is never answered
    with page.expect_request(PARTNERS):
        page.keyboard.type("customer 1234")
    page.keyboard.type("7")
    expect(page.locator("#choices li").first).to_be_visible()


def test_the_escape_key_and_what_is_typed_win_over_the_list(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus(cell(0, "article_code"))
    page.keyboard.type("wicker")
    expect(page.locator("#choices li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#choices")).to_have_count(0)
    expect(page.locator(cell(0, "article_code"))).to_have_value("wicker")


def test_two_columns_of_a_spreadsheet_become_lines(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus(cell(0, "article_code"))
    page.evaluate(PASTE, "22470\t3\n85123A\t4\r\n84029E\t1\n")
    assert filled(page) == [("22470", "3"), ("85123A", "4"), ("84029E", "1")]
    page.keyboard.type("22457")
    assert filled(page)[-1] == ("22457", "")
    page.locator("fieldset.rows tbody tr").nth(1).locator(".remove button").click()
    assert [code for code, _ in filled(page)] == ["22470", "84029E", "22457"]


def test_a_paste_of_too_many_lines_is_refused_and_kept(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus(cell(0, "article_code"))
    page.evaluate(PASTE, "22470\t1\n" * 5000)
    expect(page.locator(".refused .error")).to_contain_text(
        "You pasted 5000 lines, but the form takes at most 1000"
    )
    assert page.locator(".refused textarea").input_value().count("22470") == 5000
    assert filled(page) == []


def test_a_document_is_worked_at_without_a_script(no_script: Page, house: House) -> None:
    page = no_script
    page.goto(NEW)
    page.fill("#partner", "12347")
    page.fill("#warehouse", "MAIN")
    page.fill(cell(0, "article_code"), "22470")
    page.fill(cell(0, "quantity"), "2")
    page.click("text=Add five lines")
    expect(page.locator(cell(5, "article_code"))).to_be_visible()
    page.fill(cell(5, "article_code"), "85123A")
    page.fill(cell(5, "quantity"), "1")
    page.click("main .acts button.main")
    expect(page.locator(".note.good")).to_have_text("Sales order created.")
    page.click("text=Start work")
    page.click("text=Load")
    page.click("main .acts >> text='Deliver'")
    page.click("main .acts button.final")
    expect(page.locator("[aria-current=step]")).to_contain_text("Delivered")
    page.click("text=Return goods")
    expect(page.locator("h1")).to_have_text("New return")
    assert re.search(r"sales_order=\d+", page.url)


def test_thirty_orders_are_moved_at_once_and_two_fail(page: Page, house: House) -> None:
    token = new_token(page, "sales-orders:read", "sales-orders:write")
    lines = [{"article_code": "22423", "quantity": 1}]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines, "customer_reference": "THIRTY"}
    made = [house.server.send("POST", "/api/v2/sales-orders", body, token, 1)[1]["id"] for _ in range(30)]
    for order in made[:28]:
        moved = house.server.send(
            "PATCH", f"/api/v2/sales-orders/{order}/status", {"status": "IN_LUCRU"}, token, 1
        )
        assert moved[0] == 200, moved
    page.goto("/companies/1/sales-orders?sort=-id")
    page.check("[data-tick-all]")
    for box in page.locator("td.tick input").all():
        box.set_checked(box.get_attribute("name") in {f"record.{order}" for order in made})
    page.select_option("#act", "load")
    page.click("text=Apply to selected")
    expect(page.locator("main")).to_contain_text("This action is for 30 records.")
    page.keyboard.press("Enter")
    expect(page.locator("[role=status]").first).to_contain_text("Done for 28 records. Not done for 2 records")
    assert page.locator("main tbody tr").count() == 2


def test_a_second_click_of_the_same_hand_does_no_second_step(page: Page, house: House) -> None:
    order = an_order(page, house)
    page.goto(f"/companies/1/sales-orders/{order}")
    start = page.locator("text=Start work")
    box = start.bounding_box()
    assert box is not None
    start.click()
    expect(page.locator("[aria-current=step]")).to_contain_text("In work")
    page.mouse.click(box["x"] + 10, box["y"] + 10)
    page.wait_for_timeout(500)
    expect(page.locator("[aria-current=step]")).to_contain_text("In work")
    page.click("text=Load")
    expect(page.locator("[aria-current=step]")).to_contain_text("Loaded")


def test_what_is_typed_on_is_what_is_meant(page: Page, house: House) -> None:
    """The suggestions belong to the current text of the field, not to the shorter text before."""
    page.goto(NEW)
    page.focus(cell(0, "article_code"))
    page.keyboard.type("22")
    expect(page.locator("#choices li").first).to_be_visible()
    page.keyboard.type("470")
    page.keyboard.press("Enter")
    expect(page.locator(cell(0, "quantity"))).to_be_focused()
    expect(page.locator(cell(0, "article_code"))).to_have_value("22470")
    expect(page.locator(".means").first).to_contain_text("HEART OF WICKER LARGE")
    page.focus(cell(1, "article_code"))
    page.keyboard.type("2")
    expect(page.locator("#choices li").first).to_be_visible()
    page.keyboard.type("99999999")
    page.keyboard.press("Enter")
    expect(page.locator(cell(1, "article_code"))).to_have_value("299999999")


def test_a_column_is_pasted_where_it_belongs(page: Page, house: House) -> None:
    page.goto(NEW)
    page.focus(cell(0, "article_code"))
    page.evaluate(PASTE, "22470\n85123A\n84029E")
    page.focus(cell(0, "quantity"))
    page.evaluate(PASTE, "3\n4\n5")
    assert filled(page) == [("22470", "3"), ("85123A", "4"), ("84029E", "5")]


def test_a_session_that_ends_half_way_through_forty_lines_loses_none(page: Page, house: House) -> None:
    page.goto(NEW)
    page.fill("#partner", "12347")
    page.fill("#warehouse", "MAIN")
    page.focus(cell(0, "article_code"))
    page.evaluate(PASTE, "22470\t1\n85123A\t1\n" * 20)
    assert len(filled(page)) == 40
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.click("main .acts button.main")
    expect(page.locator("h1")).to_have_text("Sign in to wmsd")
    page.context.add_cookies(
        [{"name": each["name"], "value": each["value"], "url": house.address} for each in cookies]
    )
    page.goto(NEW)
    assert len(filled(page)) == 40
    page.click("main .acts button.main")
    expect(page.locator(".note.good")).to_have_text("Sales order created.")


def test_a_day_is_typed_or_chosen_from_a_calendar(page: Page) -> None:
    page.goto(NEW)
    expect(page.get_by_role("button", name="Choose a day")).to_be_visible()
    page.locator("input.calendar").evaluate(
        "(calendar) => { calendar.value = '2026-11-06'; calendar.dispatchEvent(new Event('change')); }"
    )
    expect(page.locator("#requested_date")).to_have_value("06.11.2026")
