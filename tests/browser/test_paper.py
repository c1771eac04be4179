"""What the browser prints: pages whole and with nothing to press."""

from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import House
from tests.browser.working_day import work
from tests.support.chromium import opened
from wmsd.interfaces.pages.kit.resources import RESOURCES

A4_WIDTH: Final = 718
"""CSS pixels that a browser's margins leave of it."""
LISTS: Final = tuple(f"/companies/1/{each.name}" for each in RESOURCES)
RECORDS: Final = ("/today", "/companies/1/articles/1", "/companies/1/stock/1", "/companies/1/stock/1/movements")
OF_HOUSE: Final = ("/admin/users", "/admin/health", "/admin/audit", "/admin/settings", "/admin/users/1/rights")
PRESSED: Final = "button, .button, nav, .find, .filters, .more, .api"
SHOWN: Final = "all => all.filter((each) => each.getClientRects().length).map((each) => each.outerHTML)"
CUT: Final = f"""() => [...document.querySelectorAll("main *")]
    .filter((each) => getComputedStyle(each).display !== "inline" && !each.closest(".hidden"))
    .filter((each) => Math.max(each.scrollWidth - each.clientWidth, each.getBoundingClientRect().right
      - {A4_WIDTH}) > 1)
    .map((each) => each.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def documents(browser: Browser, house: House) -> tuple[str, ...]:
    with opened(browser, house.address, storage_state=house.state) as page:
        return work(page, house)


def on_paper(page: Page, path: str) -> None:
    page.set_viewport_size({"width": A4_WIDTH, "height": 1000})
    page.emulate_media(media="print")
    page.goto(path)


@pytest.mark.parametrize("path", [*LISTS, *RECORDS, *OF_HOUSE])
@pytest.mark.usefixtures("documents")
def test_every_page_prints_whole_and_without_what_is_pressed(page: Page, path: str) -> None:
    on_paper(page, path)
    assert page.locator(PRESSED).evaluate_all(SHOWN) == []
    assert page.evaluate(CUT) == []


def test_documents_print_so_too(page: Page, documents: tuple[str, ...]) -> None:
    for path in documents:
        on_paper(page, path)
        assert page.locator(PRESSED).evaluate_all(SHOWN) == [], path
        assert page.evaluate(CUT) == [], path


def test_a_page_that_is_dark_prints_dark_on_white(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto("/companies/1/articles/1")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 27, 24)"
