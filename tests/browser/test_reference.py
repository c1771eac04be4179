"""Tests of the API reference and of the form to try out operations, in a real browser."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.support.chromium import opened


def test_the_contents_are_filtered_at_once(page: Page) -> None:
    page.goto("/docs/api")
    page.locator("#q").press_sequentially("min_stock")
    expect(page.locator("[data-found]")).to_contain_text("Found: ")
    shown = page.locator("[data-entry]:visible")
    expect(shown.filter(has_text="Create an article")).to_have_count(1)
    expect(shown.filter(has_text="Create a return")).to_have_count(0)
    expect(shown.first.locator("[data-fields]")).to_have_text("Fields: min_stock")
    expect(page.locator("[data-section]:visible").filter(has_text="Receptions")).to_have_count(0)
    page.fill("#q", "")
    expect(page.locator("[data-entry]:visible").filter(has_text="Create a return")).to_have_count(1)


def test_the_same_is_found_with_and_without_javascript(browser: Browser, house: House, page: Page) -> None:
    for words in ("stock", "post order", "STOCK.LOW", "external_ref", "404", "warehouses:read"):
        page.goto("/docs/api")
        page.locator("#q").press_sequentially(words)
        at_once = page.locator("[data-entry]:visible > a").all_text_contents()
        with opened(browser, house.address, java_script_enabled=False) as plain:
            plain.goto("/docs/api")
            plain.fill("#q", words)
            plain.press("#q", "Enter")
            assert plain.locator("[data-entry] > a").all_text_contents() == at_once
            assert at_once, words


@pytest.mark.parametrize("has_javascript", [True, False])
def test_the_languages_are_tabs_for_keyboard_and_mouse(
    browser: Browser, house: House, has_javascript: bool
) -> None:
    with opened(browser, house.address, java_script_enabled=has_javascript) as page:
        page.goto("/docs/api/articles/create_article")
        expect(page.locator("#example-curl")).to_be_visible()
        expect(page.locator("#example-python")).to_be_hidden()
        page.click("label[for=in-python]")
        expect(page.locator("#example-python")).to_be_visible()
        expect(page.locator("#example-curl")).to_be_hidden()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#example-php")).to_be_visible()


@pytest.mark.parametrize("has_javascript", [True, False])
def test_from_the_reference_to_a_record_that_is_made(browser: Browser, house: House, has_javascript: bool) -> None:
    code = f"TRIED-{has_javascript}"
    with opened(browser, house.address, storage_state=house.state, java_script_enabled=has_javascript) as page:
        page.goto("/docs/api/articles/create_article")
        page.click("text=Try it")
        page.select_option("#company", "1")
        page.click("text=Choose")
        expect(page.locator(".note.bad")).to_contain_text("This changes real data of Demo Trading.")
        page.fill("#body", json.dumps({"code": code, "name": "Tried"}))
        page.click("form.fields button[type=submit]")
        expect(page.locator("#answer")).to_contain_text("201")
        expect(page.locator("#token")).to_be_hidden()
        assert json.loads(page.inner_text("#answer-body"))["code"] == code
        assert page.input_value("#token") == ""
        page.goto(f"/companies/1/articles?code={code}")
        expect(page.locator("tbody tr")).to_have_count(1)


def test_a_record_leads_to_the_try_out_and_a_token_to_its_request(page: Page, house: House) -> None:
    page.goto("/companies/1/articles/1")
    page.click("text=Try it")
    assert page.input_value("#path-id") == "1"
    page.check("[name=as][value=token]")
    expect(page.locator("#token")).to_be_visible()
    (token,) = re.findall(r"Bearer ([\w.-]+)", " ".join(house.server.greeting))
    page.fill("#token", token)
    page.click("form.fields button[type=submit]")
    expect(page.locator("#answer")).to_contain_text("200")
    assert token not in page.content()
    page.click("a[href^='/companies/1/requests/']:not(.rail a)")
    expect(page.locator("h1")).to_have_text("200 GET")


def test_a_form_that_cannot_be_sent_begins_at_the_first_mistake(page: Page) -> None:
    page.goto("/try/v1/get_article?company=1&id=1")
    page.check("[name=as][value=token]")
    page.click("form.fields button[type=submit]")
    expect(page.locator("#token")).to_be_focused()
    assert page.locator("[aria-invalid=true]").count() == 1
    expect(page.locator("[role=alert]")).to_have_text("Correct the marked fields. No request was sent.")


def test_names_are_suggested_and_taken_by_keyboard(page: Page) -> None:
    page.goto("/try/graphql?company=1")
    expect(page.locator("[data-help]")).to_be_visible()
    page.fill("#query", "")
    page.locator("#query").press_sequentially("{ arti")
    names = page.locator("#query-names [role=option]")
    expect(names).to_have_text(["article", "articles", "article_changes"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    active = page.get_attribute("#query", "aria-activedescendant")
    assert page.inner_text(f"#{active}") == "articles"
    page.keyboard.press("Enter")
    assert page.input_value("#query") == "{ articles"
    expect(page.locator("#query-names")).to_be_hidden()
    page.locator("#query").press_sequentially("(first: 1) { nodes { co")
    expect(names).to_have_text(["code"])
    page.keyboard.press("Escape")
    expect(page.locator("#query-names")).to_be_hidden()
    page.keyboard.press("Control+Space")
    page.keyboard.press("Enter")
    page.locator("#query").press_sequentially(" } } }")
    page.keyboard.press("Enter")
    assert page.input_value("#query").endswith(" } } }\n"), "Enter takes nothing that was not chosen"
    page.fill("#variables", "")
    page.keyboard.press("Tab")
    page.click("form.fields button[type=submit]")
    expect(page.locator("#answer")).to_contain_text("200")
    assert json.loads(page.inner_text("#answer-body")).keys() == {"data"}


def test_a_suggestion_is_taken_with_the_mouse(page: Page) -> None:
    page.goto("/try/graphql?company=1")
    expect(page.locator("[data-help]")).to_be_visible()
    page.fill("#query", "")
    page.locator("#query").press_sequentially("query Q($first: Int!) { articles(first: $fi")
    page.click("#query-names >> text=first")
    assert page.input_value("#query").endswith("(first: $first")
    page.fill("#variables", "")
    page.locator("#variables").press_sequentially('{"fi')
    expect(page.locator("#variables-names [role=option]")).to_have_text(["first"])
