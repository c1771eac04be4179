"""An import from the office in a real browser: the faulty row is corrected, the file is imported, and the import
is undone.
"""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import House
from tests.support.chromium import barriers, photograph

FAULTY = "code;name;weight_kg\r\nIMP-1;Șurub cu cap hexagonal;1,5\r\nIMP-2;Piuliță;greu\r\n"
WIDTHS = (390, 1440)


def looked_at(page: Page, file: Path, kind: str) -> None:
    page.goto("/companies/1/imports")
    page.click("text=Import a file")
    page.select_option("#kind", kind)
    page.set_input_files("#file", file)
    page.click("text=Check the file")
    expect(page.locator("text=How the file was read")).to_be_visible(timeout=60_000)


def seen_at_all_widths(page: Page, name: str) -> None:
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            photograph(page, f"{name}-{width}-{scheme}")
            assert barriers(page) == [], (name, width)


def test_a_list_is_mended_imported_and_taken_back(page: Page, house: House, tmp_path: Path) -> None:
    file = tmp_path / "articles.csv"
    file.write_bytes(FAULTY.encode("utf-8-sig"))
    looked_at(page, file, "articles")
    expect(page.locator(".note.bad")).to_contain_text("The file cannot be imported while it has errors: 1.")
    expect(page.locator("td", has_text="greu").first).to_be_visible()
    seen_at_all_widths(page, "upload_errors")

    file.write_bytes(FAULTY.replace("greu", "0,02").encode("utf-8-sig"))
    page.click("a.button:has-text('Upload the file again')")
    expect(page.locator("#kind")).to_have_value("articles")
    page.set_input_files("#file", file)
    page.click("text=Check the file")
    expect(page.locator(".strip")).to_contain_text(re.compile(r"2\s*would be created"), timeout=60_000)
    expect(page.locator(".facts")).to_contain_text("comma detected from row 2, weight_kg: 1,5")
    seen_at_all_widths(page, "upload_good")
    page.click("text=Import the file")
    expect(page.locator("h1")).to_have_text(re.compile(r"\b\d+$"), timeout=60_000)
    expect(page.locator(".note.good")).to_have_text("The file is imported.")
    expect(page.locator(".facts")).to_contain_text("ana@example.com")
    seen_at_all_widths(page, "import_done")

    page.click("text=Undo import")
    page.click("main button")
    expect(page.locator(".note.good")).to_have_text("The import is undone.", timeout=60_000)
    page.goto("/companies/1/articles?code=IMP-1")
    expect(page.locator(".empty")).to_contain_text("No records match these filters.")


def test_a_thousand_or_one_is_chosen(page: Page, house: House, tmp_path: Path) -> None:
    page.goto("/companies/1/articles")
    code = page.locator("tbody a").first.inner_text()
    file = tmp_path / "stock.csv"
    file.write_text(f"article_code;warehouse_code;quantity\n{code};MAIN;1.000\n", encoding="utf-8")
    looked_at(page, file, "stock")
    expect(page.locator(".note.warn[role=alert]")).to_contain_text("1000 with a decimal comma")
    seen_at_all_widths(page, "upload_question")
    page.select_option("#decimal", "comma")
    page.click("text=Check the file again")
    expect(page.locator("td", has_text="1000").first).to_be_visible(timeout=60_000)
