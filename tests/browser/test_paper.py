"""Tests of printed pages.

Pages print whole and without buttons, documents on A4, and labels in their sizes with barcodes that scanners can
read.
"""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import zxingcpp
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.browser.working_day import work
from tests.support.chromium import opened
from tests.support.pictures import JPEG, png
from wmsd.interfaces.pages.kit.resources import RESOURCES

A4_WIDTH: Final = 718
"""The width of an A4 page inside the browser's margins, in CSS pixels."""
MM: Final = 72 / 25.4
"""A millimetre in points."""
LISTS: Final = tuple(f"/companies/1/{each.name}" for each in RESOURCES)
RECORDS: Final = ("/today", "/companies/1/articles/1", "/companies/1/stock/1", "/companies/1/stock/1/movements")
OF_HOUSE: Final = ("/admin/users", "/admin/health", "/admin/audit", "/admin/settings", "/admin/users/1/rights")
PRESSED: Final = "button, .button, nav, .find, .filters, .more, .tick, .api"
DRAWN: Final = (
    """() => [...document.querySelectorAll("img")].map((each) => [each.naturalWidth, each.naturalHeight])"""
)
"""A script that returns the pixels of each picture that the browser could read."""
SHOWN: Final = "all => all.filter((each) => each.getClientRects().length).map((each) => each.outerHTML)"
CUT: Final = f"""() => [...document.querySelectorAll("main *")]
    .filter((each) => getComputedStyle(each).display !== "inline" && !each.closest(".hidden"))
    .filter((each) => Math.max(each.scrollWidth - each.clientWidth, each.getBoundingClientRect().right
      - {A4_WIDTH}) > 1)
    .map((each) => each.outerHTML.slice(0, 200))"""
PIXELS: Final = """async (png) => {
    const bytes = Uint8Array.from(atob(png), (each) => each.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const grey = context.getImageData(0, 0, image.width, image.height).data.filter((_, place) => place % 4 === 0);
    return [image.height, image.width, btoa(Array.from(grey, (each) => String.fromCharCode(each)).join(""))];
}"""
"""A script that returns the grey value of each pixel of a PNG file, because no Python library here reads PNG."""


@pytest.fixture(scope="module")
def documents(browser: Browser, house: House) -> tuple[str, ...]:
    with opened(browser, house.address, storage_state=house.state) as page:
        return work(page, house)


@pytest.fixture
def printer(browser: Browser, house: House) -> Iterator[Page]:
    """Open Ana's page with the resolution of a label printer."""
    with opened(browser, house.address, storage_state=house.state, device_scale_factor=203 / 96) as page:
        yield page


def on_paper(page: Page, path: str) -> None:
    page.set_viewport_size({"width": A4_WIDTH, "height": 1000})
    page.emulate_media(media="print")
    page.goto(path)


def scanned(page: Page) -> list[tuple[str, str]]:
    """Return the text and format of the barcodes that a scanner reads from the displayed page."""
    png = base64.b64encode(page.screenshot(full_page=True)).decode()
    with opened(page.context.browser, "about:blank") as blank:  # type: ignore[arg-type]  # it has one
        height, width, grey = blank.evaluate(PIXELS, png)
    found = zxingcpp.read_barcodes(memoryview(base64.b64decode(grey)).cast("B", (height, width)))
    return sorted((each.text, str(each.format)) for each in found)


def paper_of(page: Page) -> list[tuple[int, int]]:
    """Return the width and the height of each sheet, in mm."""
    boxes = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(prefer_css_page_size=True))
    return [(round(float(width) / MM), round(float(height) / MM)) for width, height in boxes]


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


@pytest.mark.usefixtures("documents")
def test_a_delivery_note_is_read_from_paper(printer: Page) -> None:
    on_paper(printer, "/companies/1/sales-orders/1/prints/delivery-note")
    assert printer.locator(PRESSED).evaluate_all(SHOWN) == []
    assert scanned(printer) == [("SO-000001", "Code 128"), ("SO-000001", "QR Code")]
    assert paper_of(printer) == [(210, 297)]


@pytest.mark.parametrize(
    ("size", "sheets"),
    [
        ("label-sheet", [(210, 297)]),
        ("label-a6", [(105, 148)] * 2),
        ("label-62x29", [(62, 29)] * 2),
        ("label-100x50", [(100, 50)] * 2),
        ("label-100x150", [(100, 150)] * 2),
    ],
)
def test_labels_have_their_sizes_and_are_read(printer: Page, size: str, sheets: list[tuple[int, int]]) -> None:
    printer.goto(f"/companies/1/articles/1/labels?kind=article&size={size}&count=2")
    assert scanned(printer) == [("20685", "Code 128")] * 2
    assert paper_of(printer) == sheets


def test_a_button_opens_the_print_of_the_browser(page: Page) -> None:
    page.add_init_script("globalThis.print = () => { document.title = 'printed' }")
    page.goto("/companies/1/articles/1")
    page.click("main >> text=Labels")
    page.click("text=Show labels")
    page.click("text=Print")
    expect(page).to_have_title("printed")


def test_a_page_that_is_dark_prints_dark_on_white(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto("/companies/1/articles/1")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 27, 24)"


def test_the_logo_of_the_company_stands_on_its_papers(
    printer: Page, documents: tuple[str, ...], tmp_path: Path
) -> None:
    """Papers have the logo of the company, from PNG and JPEG, on A4 and A6, until the logo is removed."""
    note = "/companies/1/sales-orders/1/prints/delivery-note"
    for name, content in (("logo.jpg", JPEG), ("logo.png", png(240, 60))):
        file = tmp_path / name
        file.write_bytes(content)
        printer.emulate_media(media="screen")
        printer.goto("/companies/1/papers")
        printer.fill("#name", "Acme Logistics SRL")
        printer.fill("[id='address.city']", "Cluj-Napoca")
        printer.click("main button:text-is('Save')")
        printer.set_input_files("#file", file)
        printer.click("form.for-logo:has(#file) button")
        expect(printer.locator("[role=status]").first).to_be_visible()
        for size, sheet in (("a4", (210, 297)), ("a6", (105, 148))):
            printer.goto(f"{note}?size={size}")
            assert printer.evaluate(DRAWN) == [[240, 60] if name == "logo.png" else [1, 1]]
            expect(printer.locator(".sender")).to_contain_text("Acme Logistics SRL")
            printer.emulate_media(media="print")
            assert set(paper_of(printer)) == {sheet}
    printer.emulate_media(media="screen")
    printer.goto("/companies/1/papers")
    printer.click("main button:text-is('Remove the logo')")
    expect(printer.locator("main")).to_contain_text("Logo removed.")
    printer.goto(note)
    assert printer.evaluate(DRAWN) == []


@pytest.mark.usefixtures("documents")
def test_labels_of_ticked_stock_records_are_printed_together(page: Page) -> None:
    page.goto("/companies/1/stock")
    boxes = page.locator("td.tick input")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.click("text=Print labels for selected")
    expect(page.locator("main")).to_contain_text("2 records")
    page.click("text=Show labels")
    expect(page.locator(".label")).to_have_count(2)
