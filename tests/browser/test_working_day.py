"""The day of an office worker, from an empty company to a delivered order, in each way in which people work."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final

import polib
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.browser.test_flows import PASSWORD, sign_in
from tests.support.chromium import opened, too_wide
from tests.support.messages import CATALOGUES
from tests.support.thorough import IS_THOROUGH

pytestmark = pytest.mark.long
Look = Callable[[Page], list[str]]
NEXT: Final = "[data-live=steps] .main"
"""The button for the next step of a document."""
SEND: Final = "main form.fields .acts button.main"
SURE: Final = "main form.fields .acts button.final"
"""The button that confirms an act that is final."""
OVER: Final = "[data-live=statuses] li:last-child[aria-current=step]"
"""The mark of a document whose last status is reached."""
ENGLISH: Final = frozenset({"the", "and", "of", "with", "this", "is", "not", "your", "you"})
"""Words that no Romanian text contains. `are` is not among them: it is also Romanian for "has"."""
TEXTS: Final = """() => {
    const seen = (each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest("pre, script");
    const names = ["title", "placeholder", "aria-label"];
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (nodes.nextNode()) if (seen(nodes.currentNode.parentElement)) texts.push(nodes.currentNode.data);
    for (const each of document.querySelectorAll(names.map((name) => `[${name}]`))) {
        if (seen(each)) texts.push(...names.map((name) => each.getAttribute(name) ?? ""));
    }
    return [document.title, ...texts].map((each) => each.trim().replace(/\\s+/g, " ")).filter(Boolean);
}"""


@cache
def translated() -> frozenset[str]:
    """Return the English texts of the pages that differ in Romanian."""
    entries = (each for path in CATALOGUES.glob("ro-*.po") for each in polib.pofile(str(path)))
    return frozenset(each.msgid for each in entries if not each.obsolete and each.msgstr not in ("", each.msgid))


def english(page: Page) -> list[str]:
    """Return the texts of a Romanian page that are in English."""
    texts: list[str] = page.evaluate(TEXTS)
    return [each for each in texts if each in translated() or not ENGLISH.isdisjoint(each.lower().split())]


def nothing(page: Page) -> list[str]:
    return []


def english_or_too_wide(page: Page) -> list[str]:
    return [*english(page), *too_wide(page)]


WAYS: Final[dict[str, tuple[dict[str, Any], Look]]] = {
    "without JavaScript": ({"java_script_enabled": False}, nothing),
    "on a phone in Romanian": ({"viewport": {"width": 390, "height": 800}, "locale": "ro"}, english_or_too_wide),
    **({"on a screen": ({}, nothing)} if IS_THOROUGH else {}),
}


@pytest.fixture(params=WAYS)
def worker(
    request: pytest.FixtureRequest, browser: Browser, house: House, page: Page
) -> Iterator[tuple[Page, Look]]:
    """Open the page of the worker Mia in a new, empty company of which she is the admin."""
    options, look = WAYS[request.param]
    page.goto("/admin/companies")
    assert english(page), "it is Ana's page, and in English: whatever looks for English sees it"
    code = "".join(word[0] for word in request.param.upper().split()) + "X"
    page.goto("/admin/companies/new")
    page.fill("#code", code)
    page.fill("#name", f"Firma {code}")
    page.click("main button.main")
    number = page.url.partition("?")[0].rpartition("/")[2]
    page.goto("/admin/users/new")
    page.fill("#email", f"{code}@example.com")
    page.fill("#name", "Mia")
    page.select_option("#role", "company-admin")
    page.fill("#company_codes", code)
    page.click(SEND)
    link = page.inner_text("#link")
    with opened(browser, f"{house.address}/companies/{number}/", **options) as own:
        own.goto(link)
        own.fill("#password", PASSWORD)
        own.fill("#again", PASSWORD)
        own.click("main button")
        sign_in(own, f"{code}@example.com", PASSWORD)
        yield own, look


def made(page: Page, kind: str, look: Look, **fields: str) -> None:
    """Create a record with its form, from its list."""
    page.goto(kind)
    assert look(page) == [], kind
    page.click("[data-new]")
    assert look(page) == [], kind
    fill(page, **fields)
    page.click(SEND)
    expect(page.locator(".note.good")).to_be_visible()
    assert look(page) == [], kind


def fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        field = page.locator(f"[id='{name.replace('__', '.')}']")
        if field.evaluate("(each) => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def stock_of(page: Page) -> tuple[str, str, str]:
    """Return the quantity of the only stock record, its reserved quantity, and its quantity in quarantine."""
    page.goto("stock")
    row = page.locator("tbody tr")
    cells = [row.locator("td.num").nth(place).inner_text().strip() for place in range(3)]
    return cells[0], cells[1], cells[2]


def test_from_an_empty_company_to_a_delivered_order(worker: tuple[Page, Look]) -> None:
    page, look = worker
    made_here = partial(made, page, look=look)
    made_here("warehouses", code="HALA", name="Hala mare")
    made_here("partners", code="F1", name="Furnizor SRL", type="FURNIZOR")
    made_here("partners", code="C1", name="Client SRL", type="CLIENT")
    made_here("articles", code="LADA", name="Lada verde")
    made_here(
        "purchase-orders", partner="F1", warehouse="HALA", items__0__article_code="LADA", items__0__quantity="10"
    )
    for click in (NEXT, "button[name=then]", SURE):
        page.click(click)
        assert look(page) == [], click
    expect(page.locator(OVER)).to_be_visible()
    assert stock_of(page) == ("10 pcs", "0", "0")
    made_here(
        "sales-orders", partner="C1", warehouse="HALA", lines__0__article_code="LADA", lines__0__quantity="3"
    )
    order = page.url.partition("?")[0]
    assert stock_of(page) == ("10 pcs", "3", "0")
    page.goto(order)
    for click in (NEXT, NEXT, NEXT, SURE):
        page.click(click)
        assert look(page) == [], click
    expect(page.locator(OVER)).to_be_visible()
    assert stock_of(page) == ("7 pcs", "0", "0")
    assert look(page) == []
