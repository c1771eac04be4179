"""Tests of the keyboard: g and a letter opens a place, / searches the list, and ? displays the list of keys."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.chromium import barriers, photograph
from wmsd.interfaces.pages.kit.menu import KEYS

ORDERS = "/companies/1/sales-orders"


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def close_dialog(page: Page) -> None:
    """Press Escape and wait.

    The browser closes a dialog shortly after the key, and loses a key that is pressed before that.
    """
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.wait_for_function("!document.getElementById('keys').contains(document.activeElement)")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_g_and_a_letter_goes_to_a_place(page: Page) -> None:
    page.goto("/companies/1/articles")
    press(page, "g", "o")
    expect(page.locator("h1")).to_have_text("Sales orders")
    press(page, "g", "t")
    expect(page.locator("h1")).to_have_text("Today")
    press(page, "g", "z", "o")
    expect(page.locator("h1")).to_have_text("Today")


def test_an_n_opens_the_form_of_a_new_record(page: Page) -> None:
    page.goto(ORDERS)
    press(page, "?")
    expect(page.get_by_role("dialog").locator("dt", has_text="n").first.locator("+ dd")).to_have_text(
        "New sales order"
    )
    close_dialog(page)
    press(page, "n")
    expect(page.locator("h1")).to_have_text("New sales order")
    page.goto("/companies/1/stock")
    press(page, "n")
    expect(page.locator("h1")).to_have_text("Stock")


def test_no_key_is_given_twice() -> None:
    assert len(set(KEYS.values())) == len(KEYS)
    assert "g" not in KEYS.values()


def test_a_slash_finds_in_the_list(page: Page) -> None:
    page.goto(ORDERS)
    press(page, "/")
    field = page.locator("form[role=search] input:not([type=hidden])").first
    expect(field).to_be_focused()
    press(page, "g", "t", "?")
    expect(field).to_have_value("gt?")


def test_a_question_mark_lists_the_keys_of_this_page(page: Page) -> None:
    page.goto(ORDERS)
    link = page.locator("nav.rail a[href='/companies/1/stock']")
    link.focus()
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Shortcuts")
    expect(dialog).to_be_visible()
    expect(dialog.locator("dt", has_text="g o")).to_have_count(1)
    expect(dialog.locator("dt", has_text="g o").locator("+ dd")).to_have_text("Sales orders")
    assert barriers(page) == []
    photograph(page, "keys")
    close_dialog(page)
    expect(link).to_be_focused()


@pytest.mark.parametrize("keys", [("g", "t"), ("?",), ("/",)])
def test_whoever_switches_them_off_has_none_until_they_are_on_again(page: Page, keys: tuple[str, ...]) -> None:
    page.goto(ORDERS)
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Shortcuts are on in this browser").uncheck()
    page.get_by_role("button", name="Close").click()
    page.goto("/companies/1/articles")
    press(page, *keys)
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Articles")
    expect(page.locator("input:focus")).to_have_count(0)
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Shortcuts are on in this browser").check()
    close_dialog(page)
    press(page, "g", "o")
    expect(page.locator("h1")).to_have_text("Sales orders")


def test_keys_with_others_held_are_the_browsers(page: Page) -> None:
    page.goto(ORDERS)
    press(page, "g", "Control+t", "Alt+o")
    expect(page.locator("h1")).to_have_text("Sales orders")
