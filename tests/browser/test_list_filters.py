"""Tests of list filters in a browser: suggestions appear while a person types."""

from playwright.sync_api import Page, expect

ORDERS = "/companies/1/sales-orders"
NUMBER = "12347"


def test_a_partner_is_chosen_by_a_part_of_its_name(page: Page) -> None:
    page.goto(ORDERS)
    page.fill("#partner", f"tomer {NUMBER}")
    expect(page.locator("#choices li")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#partner")).to_have_value(NUMBER)
    page.click("form.filters >> text=Show")
    expect(page.locator("main h1")).to_have_text("Sales orders")
    assert f"partner={NUMBER}" in page.url


def test_enter_shows_the_list_where_nothing_is_listed(page: Page) -> None:
    page.goto(ORDERS)
    page.fill("#code", "00001")
    page.keyboard.press("Enter")
    page.wait_for_url("**code=00001**")
    codes = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert codes
    assert all("00001" in code for code in codes)


def test_a_partner_is_found_without_the_list(page: Page) -> None:
    page.goto(f"{ORDERS}?partner=customer+{NUMBER}")
    expect(page.locator("#partner-error")).to_have_count(0)
    page.goto(f"{ORDERS}?partner=customer")
    expect(page.locator("#partner-error")).to_contain_text("Several records match “customer”.")
    expect(page.locator("#partner")).to_have_value("customer")
