"""Debian's Chromium, driven by Playwright, and the checks that every page must pass in it."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # it has no types
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Response,
    sync_playwright,
)

from tests.support.programs import program
from tests.support.thorough import IS_THOROUGH

ROOT: Final = Path(__file__).parents[2]
SCREENSHOTS: Final = ROOT / "build" / "screenshots"
COLOURS: Final = ("color-contrast", "link-in-text-block")
"""All axe rules that depend on the colours, and so on the light or dark mode. These rules take longer than all
other rules together.
"""
KINDS: Final = """() => {
  const styled = ["class", "type", "rel", "role", "open", "hidden", "disabled", "checked", "required", "readonly",
    "aria-current", "aria-invalid", "aria-selected", "aria-sort", "aria-disabled"];
  const kinds = new Map([[document.documentElement, ""]]);
  for (const each of document.querySelectorAll("body, body *")) {
    const given = styled.filter((name) => each.hasAttribute(name));
    const told = given.map((name) => `${name}=${each.getAttribute(name)}`);
    const texts = [...each.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const hasText = texts.some((node) => node.data.trim());
    kinds.set(each, `${kinds.get(each.parentNode)} ${each.tagName}[${told}]${hasText ? "…" : ""}`);
  }
  window.kindsOfElements = kinds;
  return [...new Set(kinds.values())];
}"""
"""JavaScript that returns the kinds of elements of the page. A kind is a text that names the element and its
ancestors, each with the attributes that style sheets use, and with a mark if it has text of its own.
"""
MARK: Final = """(wanted) => {
  const kinds = new Set(wanted);
  for (const [each, kind] of window.kindsOfElements) each.toggleAttribute("data-new-kind", kinds.has(kind));
}"""
"""JavaScript that marks the elements of the given kinds. `KINDS` must have run on the page before."""
MARKED: Final = "[data-new-kind]"
TELLS_READY: Final = """addEventListener("load", () => { document.documentElement.dataset.ready = "" })"""
"""A script that marks the page as ready when it is loaded. A page may be visible before its own scripts have run,
because they are deferred, but when it is loaded, they have run.
"""
NOT_READY: Final = "html:not([data-ready])"
RUN_AXE: Final = "([within, options]) => axe.run(within, options).then((found) => found.violations)"
SERIOUS: Final = ("serious", "critical")
ONLY_SERIOUS: Final = """;axe.configure({
  rules: axe._audit.rules.filter((rule) => ["minor", "moderate"].includes(rule.impact))
    .map((rule) => ({ id: rule.id, enabled: false })),
});"""
"""Switches off the axe rules whose violations are never serious. They take as long as all the others."""
MOST_TRIES: Final = 5
HEAVIEST: Final = 100_000
"""The most bytes of a page with everything that it loads."""
HEAVIEST_SCRIPT: Final = 15_000
"""The most bytes of our own JavaScript on a page, compressed."""
HEAVIEST_SCRIPT_WITH_ROWS: Final = 25_000
"""The most bytes of our own JavaScript on a form with lines, compressed."""


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = program("chromium-headless-shell")
    with sync_playwright() as playwright:
        # CI runs as root and has no graphics processor
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu", "--in-process-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """Open a page in a separate browser context.

    Fail at the end if a script had an error or the content security policy blocked something.
    """
    context = browser.new_context(base_url=address, **options)
    if options.get("java_script_enabled", True):
        context.add_init_script(TELLS_READY)
        context.on("page", wait_for_scripts)
    try:
        page = context.new_page()
        told = watch(page)
        yield page
        assert told == []
    finally:
        context.close()


def wait_for_scripts(page: Page) -> None:
    """Make every later click, key press and read of the page wait until the page's scripts have run."""
    page.add_locator_handler(page.locator(NOT_READY), lambda: None)


def watch(page: Page) -> list[str]:
    """Return a list to which each problem of the page is added.

    Problems are errors of scripts and everything that the content security policy forbids.
    """
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
    """Save a screenshot of the page, or of its top, for people to look at. Do nothing unless the run is THOROUGH.

    On a busy machine Chromium sometimes cannot take a screenshot. This says nothing about the page.
    """
    if not IS_THOROUGH:
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for again in range(MOST_TRIES):
        try:
            page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=is_whole)
        except Error:
            if again == MOST_TRIES - 1:
                raise
        else:
            return


def barriers(page: Page) -> list[str]:
    """Return the barriers for users with disabilities: violations that axe finds, and a page that is too wide."""
    return [*found_by_axe(page, {}), *too_wide(page)]


def too_wide(page: Page) -> list[str]:
    is_too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return ["it is too wide"] if is_too_wide else []


def found_by_axe(page: Page, options: dict[str, Any], within: str = "html") -> list[str]:
    """Return the serious violations that axe finds in the elements that the selector `within` chooses."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT + ONLY_SERIOUS)
    found = page.evaluate(RUN_AXE, [within, {"resultTypes": ["violations"], **options}])
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"][:3]
    ]


class Loaded:
    """The responses that a page loads after this object is created."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._responses: list[Response] = []
        page.on("response", lambda response: self._responses.append(response))

    def too_heavy(self) -> dict[str, int]:
        """Return the bytes of each response that the present page loads, by address, or {} if the page is not too
        heavy. Scripts count compressed. The next call is about the responses after this one.
        """
        found = {each.url: _size_of(each) for each in self._responses if _is_of(each, self._page.url)}
        self._responses.clear()
        scripts = sum(size for address, size in found.items() if address.endswith(".js"))
        has_rows = self._page.locator("fieldset.rows").count() > 0
        heaviest_script = HEAVIEST_SCRIPT_WITH_ROWS if has_rows else HEAVIEST_SCRIPT
        return found if sum(found.values()) > HEAVIEST or scripts > heaviest_script else {}


def _size_of(response: Response) -> int:
    body = response.body()
    return len(gzip.compress(body)) if response.url.endswith(".js") else len(body)


def _is_of(response: Response, address: str) -> bool:
    """Return True if the page at `address` has loaded the response.

    Responses for the previous page may still arrive. A stream of events has no end, so it does not count.
    """
    if response.request.resource_type == "eventsource":
        return False
    return address in (response.url, response.request.headers.get("referer"))
