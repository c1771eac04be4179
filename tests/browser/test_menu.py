"""Tests of the menu: next to the page on a screen, and folded on a phone, with and without JavaScript."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.support.chromium import barriers, opened, photograph

MENU = "nav.rail .menu > summary"
PHONE = {"width": 390, "height": 800}
ARTICLES = "nav.rail a[href='/companies/1/articles']"


@pytest.mark.parametrize("has_scripts", [True, False])
def test_on_a_phone_it_opens_and_marks_the_page(browser: Browser, house: House, has_scripts: bool) -> None:
    how = {"viewport": PHONE, "java_script_enabled": has_scripts, "storage_state": house.state}
    with opened(browser, house.address, **how) as page:
        page.goto("/companies/1/sales-orders")
        expect(page.locator(ARTICLES)).to_be_hidden()
        expect(page.locator("text=Sign out")).to_be_hidden()
        expect(page.locator("h1")).to_be_in_viewport()
        page.click(MENU)
        expect(page.locator(ARTICLES)).to_be_visible()
        expect(page.locator("text=Sign out")).to_be_visible()
        expect(page.locator("nav.rail [aria-current=page]")).to_have_text("Sales orders")
        page.click(ARTICLES)
        expect(page.locator("h1")).to_have_text("Articles")
        expect(page.locator(ARTICLES)).to_be_hidden()


def test_on_a_phone_it_opens_by_keyboard_and_keeps_nobody_out(browser: Browser, house: House) -> None:
    with opened(browser, house.address, viewport=PHONE, storage_state=house.state) as page:
        page.goto("/companies/1/articles")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(page.locator(MENU)).to_be_focused()
        page.keyboard.press("Enter")
        photograph(page, "menu-phone")
        assert barriers(page) == []
        page.keyboard.press("Tab")
        expect(page.locator("nav.rail a[href='/today']")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Today")


def test_on_a_phone_the_reference_has_it_too(browser: Browser, house: House) -> None:
    with opened(browser, house.address, viewport=PHONE) as page:
        page.goto("/docs/api/articles")
        expect(page.locator("nav.rail a[href='/docs/api/stock']")).to_be_hidden()
        page.click("nav.rail summary")
        assert barriers(page) == []
        page.click("nav.rail a[href='/docs/api/stock']")
        expect(page.locator("h1")).to_have_text("Stock")


def test_on_a_screen_all_of_it_stands_beside_the_page(page: Page) -> None:
    page.goto("/companies/1/articles")
    expect(page.locator(MENU)).to_be_hidden()
    expect(page.locator(ARTICLES)).to_be_visible()
    expect(page.locator("nav.rail [aria-current=page]")).to_have_text("Articles")
    expect(page.locator("text=Sign out")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900), (1280, 500)])
def test_whoever_wants_to_sign_out_need_not_scroll(
    browser: Browser, house: House, width: int, height: int
) -> None:
    viewport = {"width": width, "height": height}
    with opened(browser, house.address, viewport=viewport, storage_state=house.state) as page:
        page.goto("/companies/1/sales-orders")
        if width == 390:
            page.click(MENU)
        expect(page.locator("text=Sign out")).to_be_in_viewport(ratio=1)
        page.locator("nav.rail a[href='/docs']").scroll_into_view_if_needed()
        expect(page.locator("nav.rail a[href='/docs']")).to_be_in_viewport()
        expect(page.locator("text=Sign out")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [390, 1440])
def test_a_list_stays_where_it_is_when_the_page_becomes_live(browser: Browser, house: House, width: int) -> None:
    with opened(
        browser, house.address, viewport={"width": width, "height": 900}, storage_state=house.state
    ) as page:
        page.route("**/live", lambda route: None)
        page.goto("/companies/1/articles")
        before = page.locator("h1").bounding_box()
        expect(page.locator("#live")).to_have_text("")
        page.evaluate("document.getElementById('live').textContent = document.getElementById('live').dataset.on")
        assert page.locator("h1").bounding_box() == before


@pytest.fixture(scope="module")
def two(browser: Browser, house: House) -> str:
    """Return the address of a second company."""
    with opened(browser, house.address, storage_state=house.state) as page:
        page.goto("/admin/companies/new")
        page.fill("#code", "SECOND")
        page.fill("#name", "Second, the company of the other hall")
        page.click("main button")
        number = page.url.partition("?")[0].rpartition("/")[2]
    return f"/companies/{number}"


@pytest.mark.parametrize("has_scripts", [True, False])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_same_list_of_another_company_is_two_steps_away(
    browser: Browser, house: House, two: str, width: int, has_scripts: bool
) -> None:
    how = {"viewport": {"width": width, "height": 900}, "java_script_enabled": has_scripts}
    with opened(browser, house.address, storage_state=house.state, **how) as page:
        page.goto("/companies/1/sales-orders")
        if width == 390:
            page.click(MENU)
        page.click("text=Another company")
        if has_scripts:
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                photograph(page, f"another-company-{width}-{scheme}")
                assert barriers(page) == []
        page.click("text=Second, the company")
        expect(page.locator("h1")).to_have_text("Sales orders")
        assert page.url == f"{house.address}{two}/sales-orders"
