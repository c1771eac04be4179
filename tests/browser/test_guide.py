"""Tests of the guide in a real browser: every page at three widths, in light and dark mode, and how people find
topics.
"""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.support.chromium import Loaded, opened
from tests.support.looking import Look, looked_at
from wmsd.interfaces.guide.contents import ORDER, address_of

pytestmark = pytest.mark.long
PAGES = (
    *(address_of(name) for name in ORDER),
    *("/docs/search", "/docs/search?q=stock", "/docs/search?q=zzzz", "/docs/nothing"),
)


MOST_CHARACTERS = 80
"""The most characters in a line of prose. About 75 are easy to read, and narrow letters allow a few more."""
CHARACTERS = """() => [...document.querySelectorAll(".prose .text > p")].flatMap((paragraph) => {
  const lines = new Map();
  const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (let place = 0; place < text.length; place++) {
      const range = document.createRange();
      range.setStart(text, place);
      range.setEnd(text, place + 1);
      const line = Math.round(range.getBoundingClientRect().bottom / 8);
      lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  return [...lines.values()];
})"""


LOOKS = (
    Look("phone", "light", "all"),
    Look("tablet", "light", "none"),
    Look("screen", "light", "all but colours of new kinds"),
    Look("screen", "dark", "colours"),
)
"""The looks, each with the axe rules that no look before it has covered."""


def test_nothing_keeps_anybody_out_and_every_page_is_light(stranger: Page) -> None:
    wrong, loaded = {}, Loaded(stranger)
    for path in PAGES:
        name = path.strip("/").replace("/", "_").replace("?", "_")
        found = looked_at(stranger, path, LOOKS, name, is_whole=False)
        if found := found | loaded.too_heavy():
            wrong[path] = found
    assert wrong == {}


@pytest.mark.parametrize("name", ["webhooks", "backup", "architecture"])
def test_lines_of_prose_are_read_with_ease_on_a_screen(browser: Browser, house: House, name: str) -> None:
    with opened(browser, house.address, viewport={"width": 1440, "height": 900}) as page:
        page.goto(address_of(name))
        found = page.evaluate(CHARACTERS)
        assert 60 < max(found) <= MOST_CHARACTERS


@pytest.mark.parametrize("name", ["data-folder", "disk-full", "monitoring", "packaging"])
def test_tables_of_words_fit_a_phone(browser: Browser, house: House, name: str) -> None:
    with opened(browser, house.address, viewport={"width": 390, "height": 800}) as page:
        page.goto(address_of(name))
        tables = page.locator(".prose .wide")
        assert tables.count() > 0
        assert tables.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0


@pytest.mark.parametrize("has_scripts", [True, False])
def test_from_a_word_to_the_paragraph_about_it(browser: Browser, house: House, has_scripts: bool) -> None:
    with opened(browser, house.address, java_script_enabled=has_scripts) as page:
        page.goto("/docs")
        page.fill("#q", "STORAGE_FULL")
        page.click("text=Find")
        expect(page.locator("[role=status]")).to_contain_text("section")
        expect(page.locator(".found mark").first).to_have_text("STORAGE_FULL")
        page.click(".found a >> nth=0")
        assert page.url == f"{house.address}/docs/errors#storage_full"
        expect(page.locator("#storage_full")).to_be_in_viewport()


def test_by_keyboard(stranger: Page) -> None:
    stranger.goto("/docs/stock")
    stranger.keyboard.press("Tab")
    assert stranger.evaluate("document.activeElement.textContent") == "To the content"
    stranger.keyboard.press("/")
    expect(stranger.locator("#q")).to_be_focused()
    stranger.keyboard.type("a/b")
    assert stranger.input_value("#q") == "a/b"
    stranger.keyboard.press("Enter")
    expect(stranger.locator("h1")).to_have_text("Search the guide")


def test_a_heading_has_a_link_that_shows_when_it_is_reached(stranger: Page) -> None:
    stranger.goto("/docs/stock")
    link = stranger.locator(".anchor[href='#the-ledger']")
    expect(link).to_have_css("opacity", "0")
    stranger.locator("#the-ledger").hover()
    expect(link).to_have_css("opacity", "1")
    link.click()
    assert stranger.url.endswith("/docs/stock#the-ledger")
    stranger.locator(".anchor[href='#adjusting']").focus()
    expect(stranger.locator(".anchor[href='#adjusting']")).to_have_css("opacity", "1")


def test_a_block_of_code_is_copied_as_it_is(browser: Browser, house: House) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, house.address, permissions=permissions) as page:
        page.goto("/docs/examples")
        page.click("[data-copy=code-block-2]")
        expect(page.locator("[data-copy=code-block-2]")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.inner_text("#code-block-2")
        assert copied.startswith('import { existsSync, readFileSync, writeFileSync } from "node:fs";\n')


def test_on_a_phone_the_contents_open_and_wide_things_scroll_by_themselves(browser: Browser, house: House) -> None:
    with opened(browser, house.address, viewport={"width": 390, "height": 800}) as page:
        page.goto("/docs/examples")
        contents = page.locator("nav[aria-label='Contents of the guide'] >> text=Webhooks")
        expect(contents).to_be_hidden()
        block = page.locator("#code-block-2")
        assert block.evaluate("each => each.scrollWidth > each.clientWidth")
        block.focus()
        page.keyboard.press("ArrowRight")
        expect(block).not_to_have_js_property("scrollLeft", 0)
        page.click("summary >> text=Contents")
        contents.click()
        expect(page.locator("h1")).to_have_text("Webhooks")
        page.click("summary >> text=On this page")
        page.click(".on-page a >> nth=2")
        assert "#" in page.url


def test_on_a_screen_the_contents_stand_beside_the_page(browser: Browser, house: House) -> None:
    with opened(browser, house.address, viewport={"width": 1440, "height": 700}) as page:
        page.goto("/docs/architecture")
        expect(page.locator("summary >> text=Contents")).to_be_hidden()
        expect(page.locator(".rail [aria-current=page]")).to_be_in_viewport()
        expect(page.locator("#q")).not_to_be_in_viewport()
        expect(page.locator("nav[aria-label='On this page'] a >> nth=0")).to_be_in_viewport()
        assert page.evaluate("scrollY") == 0
        page.goto("/docs/troubleshooting#backups")
        expect(page.locator("#q")).to_be_in_viewport()
        expect(page.locator("#backups")).to_be_in_viewport()
        expect(page.locator("nav[aria-label='On this page'] a >> nth=0")).to_be_in_viewport()


def test_who_is_signed_in_goes_back_to_the_pages(page: Page) -> None:
    page.goto("/docs/returns")
    page.click("text=Back to wmsd")
    expect(page.locator("h1")).to_have_text("Today")
