"""Tests of what a phone displays without scrolling sideways: tables of words, and the lines of documents."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import House
from tests.browser.working_day import work
from tests.support.chromium import opened

PAGES = (
    *("/admin/users/1/rights", "/admin/settings", "/admin/health", "/docs/api/access", "/docs/api/graphql/Query"),
    *("/docs/api/sales-orders/create_sales_order", "/docs/api/webhook-events", "/admin/companies/1", "/today"),
)
OF_DOCUMENTS = {
    "sales-orders": ("Quantity",),
    "purchase-orders": ("Quantity", "Received quantity"),
    "receptions": ("Quantity",),
    "returns": ("Quantity",),
}
"""The kinds of documents, and the numbers in their lines that people need."""
OF_LISTS = {
    "stock": ("Quantity", "Reserved", "Available"),
    "articles": ("Name", "Unit"),
    "sales-orders": ("Status", "Lines"),
    "purchase-orders": ("Status", "Items"),
    "partners": ("Name", "Type"),
}
"""The lists, and the columns that people need."""
WIDTH = 390


@pytest.fixture
def phone(browser: Browser, house: House) -> Iterator[Page]:
    """Open Ana's page on a phone."""
    viewport = {"width": WIDTH, "height": 900}
    with opened(browser, house.address, storage_state=house.state, viewport=viewport) as page:
        yield page


@pytest.fixture(scope="module")
def documents(browser: Browser, house: House) -> dict[str, str]:
    """Return the address of one document of each kind."""
    with opened(browser, house.address, storage_state=house.state) as page:
        addresses = work(page, house)
    return {kind: each for kind in OF_DOCUMENTS for each in addresses if f"/{kind}/" in each}


def stand_below_each_other(page: Page) -> None:
    tables = page.locator(".wide:has(> .stacked)")
    assert tables.count() > 0
    assert tables.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0


@pytest.mark.parametrize("path", PAGES)
def test_tables_of_words_stand_below_each_other(phone: Page, path: str) -> None:
    phone.goto(path)
    stand_below_each_other(phone)


def test_the_list_of_backups_stands_below_each_other(phone: Page) -> None:
    phone.goto("/admin/backups")
    if not phone.locator(".stacked").count():
        phone.click("main button")
        phone.wait_for_selector(".stacked")
    stand_below_each_other(phone)


@pytest.mark.parametrize("kind", OF_LISTS)
def test_what_a_list_says_of_a_record_is_on_the_screen(phone: Page, documents: dict[str, str], kind: str) -> None:
    phone.goto(f"/companies/1/{kind}")
    stand_below_each_other(phone)
    row = phone.locator("tbody tr").first
    for cell in (
        row.locator("td > a").first,
        *(row.locator(f"td[data-heading='{each}']") for each in OF_LISTS[kind]),
    ):
        box = cell.bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= WIDTH


def test_a_list_is_put_in_order_there(phone: Page, documents: dict[str, str]) -> None:
    phone.goto("/companies/1/sales-orders")
    phone.click("thead a:text-is('Code')")
    assert "sort=code" in phone.url


@pytest.mark.parametrize("kind", OF_DOCUMENTS)
def test_the_quantities_of_a_document_are_on_the_screen(phone: Page, documents: dict[str, str], kind: str) -> None:
    phone.goto(documents[kind])
    stand_below_each_other(phone)
    for heading in OF_DOCUMENTS[kind]:
        cell = phone.locator(f"td[data-heading='{heading}']").first
        box = cell.locator("span").bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= WIDTH
        assert heading in cell.evaluate("each => getComputedStyle(each, '::before').content")
