"""Debian's Chromium, driven by Playwright, and what it must never show."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has no types
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Response,
    sync_playwright,
)

from tests.support.programs import program

ROOT: Final = Path(__file__).parents[2]
SCREENSHOTS: Final = ROOT / "build" / "screenshots"
COLOURS: Final = ("color-contrast", "link-in-text-block")
"""All of axe's rules that the colours decide, and so the mode."""
SERIOUS: Final = ("serious", "critical")
MOST_TRIES: Final = 5
HEAVIEST: Final = 100_000
"""Bytes of a page with all that it loads."""
HEAVIEST_SCRIPT: Final = 15_000


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = program("chromium")
    with sync_playwright() as playwright:
        # CI runs as root, and has no graphics processor
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """A page in a context of its own. At the end, nothing may have gone wrong in it."""
    context = browser.new_context(base_url=address, **options)
    try:
        page = context.new_page()
        told = watch(page)
        yield page
        assert told == []
    finally:
        context.close()


def watch(page: Page) -> list[str]:
    """What goes wrong in the page: errors of scripts, and what the content security policy forbids."""
    told: list[str] = []

    def tell_error(error: Error) -> None:
        told.append(str(error))

    def tell_forbidden(message: ConsoleMessage) -> None:
        if "Content Security" in message.text:
            told.append(message.text)

    page.on("pageerror", tell_error)
    page.on("console", tell_forbidden)
    return told


def photograph(page: Page, name: str, is_whole: bool = True) -> None:
    """Leaves a screenshot of the page, or of its beginning, for people to look at. On a busy machine Chromium now
    and then cannot take one, which says nothing of the page.
    """
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for again in range(MOST_TRIES):
        try:
            page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=is_whole)
        except Error:
            if again == MOST_TRIES - 1:
                raise
        else:
            return


def barriers(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """What keeps people out: what axe finds by these rules of its own, or by all, and a page that is too wide."""
    is_too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return [*(_found_by_axe(page, rules) if rules != () else []), *(["it is too wide"] if is_too_wide else [])]


def _found_by_axe(page: Page, rules: Sequence[str] | None) -> list[str]:
    options = {"resultTypes": ["violations"], **({} if rules is None else {"runOnly": list(rules)})}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"][:3]
    ]


def weights(context: BrowserContext, path: str) -> dict[str, int]:
    """The bytes of the page and of each thing that it loads, as they are without compression."""
    page = context.new_page()
    found: dict[str, int] = {}

    def weigh(response: Response) -> None:
        found[response.url] = len(response.body())

    page.on("response", weigh)
    page.goto(path, wait_until="load")
    page.close()
    return found
