"""Tests of every page in each language, on a phone, a tablet and a screen, in light and dark mode.

No page may have an accessibility barrier, be too wide or too heavy. A THOROUGH run saves a screenshot of each page
in `build/screenshots` for people to look at.
"""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.browser.working_day import SHOWN_ONCE, fill, work
from tests.support.chromium import Loaded, barriers, opened, photograph
from tests.support.finding_texts import one_of_each
from tests.support.looking import SCREENS, Look, looked_at
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES

pytestmark = pytest.mark.long
PAGES = (
    *("/today", "/start", "/account", "/companies/1/articles/1", "/companies/1/articles/1/change"),
    *("/companies/1/stock/1", "/companies/1/stock/1/movements", "/sign-on/try"),
    *("/account/second-factor", "/account/password"),
    *("/companies/1/partners/1", "/companies/1/warehouses/1", "/admin/users/1", "/admin/users/1/change"),
    *("/admin/users/1/rights", "/admin/companies/1", "/admin/companies/1/change", "/admin/tokens/1"),
    *("/admin/health", "/admin/backups", "/admin/jobs", "/admin/settings", "/admin/companies/1/policies"),
    *("/admin/sites/new", "/admin/kernel-tokens/new"),
    *("/admin/users/1/email", "/admin/users/1/delete", "/admin/companies/1/rename"),
    *("/admin/users/new", "/admin/tokens/new", "/admin/companies/new", "/companies/1/webhooks/new"),
    *("/companies/1/webhooks/new-receiver", "/companies/1/requests"),
    *(f"/companies/1/{each.name}" for each in RESOURCES),
    *(f"/admin/{each.name}" for each in ADMINISTRATION),
    *("/companies/1/sales-orders/new", "/companies/1/sales-orders/1/change"),
    *("/companies/1/sales-orders/1/cancel", "/companies/1/receptions/new?purchase_order=1"),
    *("/companies/1/returns/new", "/companies/1/search?text=heart"),
    *("/companies/1/purchase-orders/new", "/companies/1/purchase-orders/1/change", "/companies/1/receptions/new"),
    *("/companies/1/returns/1/change", "/companies/1/sales-orders/1/load", "/companies/1/sales-orders/1/deliver"),
    *("/companies/1/stock/1/adjust", "/companies/1/stock/1/quarantine", "/companies/1/packaging-movements/new"),
    *("/companies/1/search", "/companies/1/search?text=zzzz", "/search?text=zzzz"),
    *(f"/companies/1/sales-orders/1/{each}" for each in ("labels", "prints/delivery-note", "prints/pick-list")),
    *("/companies/1/receptions/1/prints/goods-received-note", "/companies/1/returns/1/prints/return-slip"),
    *("/companies/1/articles/1/labels?size=x", "/companies/1/articles/1/labels?kind=article&size=label-62x29"),
    *("/companies/1/papers", "/companies/1/stock/1/labels", "/companies/1/stock/labels?ids=1,2"),
    *(
        "/companies/1/sales-orders/1/prints/delivery-note?size=a6",
        "/companies/1/returns/1/prints/return-slip?size=a6",
    ),
    *("/companies/1/counts/new", "/companies/1/counts/1", "/companies/1/counts/2", "/companies/1/counts/2/enter"),
    *("/companies/1/counts/2/found", "/companies/1/counts/2/book", "/companies/1/counts/2/prints/count-sheet"),
    *("/companies/1/stock/1/count", "/companies/1/counts/2/prints/blind-count-sheet"),
    *("/companies/1/imports/new", "/companies/1/partners/new", "/companies/1/clients/new"),
    *("/companies/1/warehouses/new", "/companies/1/partners/1/change"),
    *("/companies/99/articles", "/companies/1/articles?min_stock=x"),
    *("/nothing", "/companies/1/articles/999", "/sign-out", "/companies/1/articles?page=77"),
    *("/companies/1/articles?search=zzzz", "/companies/1/returns?status=ANULAT"),
    *("/docs/api", "/docs/api/webhooks", "/docs/api/sales-orders/create_sales_order", "/docs/api/errors"),
    *("/docs/api/webhook-events", "/docs/api/access", "/docs/api/graphql", "/docs/api/graphql/Query"),
    *("/docs/api?q=stock", "/docs/api?q=nothing+like+that"),
    *("/try/v1/create_article?company=1", "/try/v2/walk_stock", "/try/v1/get_user", "/try/graphql?company=1"),
)
WEBHOOK = (
    *("", "/receiver", "/change", "/switch-on", "/deliveries", "/deliveries/again"),
    *("/deliveries?record=x", "/deliveries/1"),
)
"""Pages of a test receiver to which one test was sent."""
FOR_STRANGERS = (
    "/sign-in?next=/start&lost=form",
    "/sign-in",
    "/welcome?code=x",
    "/first-admin?code=x",
    "/demo?code=x",
)
NO_NAME = re.compile(r"[^\w.-]+|(?<=/)[0-9a-f]{32}$")
"""Parts of addresses that are not used in file names, also ids that differ in each run."""
LOOKS = {
    "en": (
        Look("phone", "light", "all"),
        Look("screen", "light", "all but colours of new kinds"),
        Look("screen", "dark", "colours"),
    ),
    "ro": (Look("phone", "light", "none"), Look("tablet", "light", "none")),
}
"""The looks by language. A look has the axe rules that no look before it has covered."""


@pytest.fixture(scope="module")
def pages(browser: Browser, house: House) -> tuple[str, ...]:
    """Return all pages except those for strangers.

    The webhook has a long name, and the doctor has findings of every kind.
    """
    one_of_each(house.data)
    with opened(browser, house.address, storage_state=house.state) as page:
        of_the_day = work(page, house)
        page.goto("/companies/1/webhooks/new-receiver")
        page.fill("#name", "The receiver of the integrator who comes from far away and brings long names")
        page.click("main button")
        number = page.url.rpartition("/webhooks/")[2].partition("/")[0]
        page.goto(f"/companies/1/webhooks/{number}/test")
        page.click("main button")
        delivery = page.url.rpartition("/")[2].partition("?")[0]
        page.goto(f"/companies/1/webhooks/{number}/receiver")
        received = page.locator("tbody td a").first.get_attribute("href") or ""
    own = (each.replace("deliveries/1", f"deliveries/{delivery}") for each in WEBHOOK)
    return (*PAGES, *of_the_day, *(f"/companies/1/webhooks/{number}{each}" for each in own), received)


@pytest.mark.parametrize("language", LOOKS)
def test_nothing_keeps_anybody_out_and_every_page_is_light(
    browser: Browser, house: House, pages: tuple[str, ...], language: str
) -> None:
    wrong = {}
    with opened(browser, house.address, storage_state=house.state, locale=language) as page:
        loaded = Loaded(page)
        for path in (*pages, *FOR_STRANGERS):
            if path == FOR_STRANGERS[0]:
                page.context.clear_cookies()
            name = f"{re.sub(NO_NAME, '_', path.strip('/'))}-{language}"
            found = looked_at(page, path, LOOKS[language], name)
            if found := found | loaded.too_heavy():
                wrong[path] = found
    assert wrong == {}


@pytest.mark.usefixtures("pages")
def test_nothing_keeps_anybody_out_of_what_is_shown_once(browser: Browser, house: House) -> None:
    """Pages that are displayed only once have no barriers. The pages of the second factor have none either.

    The second factor is set up and switched off again. The fixture `pages` created the second warehouse.
    """
    wrong = {}

    def look(page: Page, name: str) -> None:
        for screen, width in SCREENS.items():
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                photograph(page, f"{name}-once-{screen}-{scheme}")
                if found := barriers(page):
                    wrong[name, screen, scheme] = found

    with opened(browser, house.address, storage_state=house.state) as page:
        for path, fields in SHOWN_ONCE:
            fill(page, path, fields)
            expect(page.locator("[data-copy]").first).to_be_attached()
            look(page, path.strip("/").replace("/", "_"))
        page.goto("/companies/1/sales-orders?status=LIVRAT")
        page.check("[data-tick-all]")
        page.select_option("#act", "start")
        page.click("text=Apply to selected")
        look(page, "bulk-asked")
        page.click("main form.fields .main")
        expect(page.locator("main tbody tr").first).to_contain_text("cannot change its status any more")
        look(page, "bulk-done")
        page.goto("/account/second-factor")
        page.click("text=Set up")
        expect(page.locator(".qr")).to_be_visible()
        look(page, "second-factor")
    assert wrong == {}
