"""What a phone shows without scrolling sideways: tables of words."""

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import House
from tests.support.chromium import opened

PAGES = (
    *("/admin/users/1/rights", "/admin/settings", "/admin/health", "/docs/api/access", "/docs/api/graphql/Query"),
    *("/docs/api/sales-orders/create_sales_order", "/docs/api/webhook-events"),
)


@pytest.mark.parametrize("path", PAGES)
def test_tables_of_words_stand_below_each_other(browser: Browser, house: House, path: str) -> None:
    with opened(browser, house.address, storage_state=house.state, viewport={"width": 390, "height": 900}) as page:
        page.goto(path)
        tables = page.locator(".wide:has(> .stacked)")
        assert tables.count() > 0
        assert tables.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0
