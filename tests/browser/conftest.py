from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.chromium import chromium, opened
from tests.support.command import Home, Server
from tests.support.forked import Program

expect.set_options(timeout=30_000)  # milliseconds; a slow answer of a busy machine is no error
UNLIMITED = {f"WMSD_LIMITS_{name}_PER_MINUTE": "100000" for name in ("DATA", "PAGES", "OPEN", "AUTH")}
ADMIN = {"name": "Ana Pop", "email": "ana@example.com", "password": "correct horse battery"}


@dataclass(frozen=True)
class House:
    """A server with the demo, and its admin Ana, who is signed in."""

    server: Server
    state: Any
    """The cookies of Ana's browser."""
    data: Path

    @property
    def address(self) -> str:
        return self.server.address

    def link(self, name: str) -> str:
        """Return a link from the greeting of the server."""
        (line,) = [each for each in self.server.greeting if each.startswith(name)]
        return next(each for each in line.split() if each.startswith("http"))


def new_token(page: Page, *abilities: str) -> str:
    """Create a token for the demo's company on the pages."""
    page.goto("/admin/tokens/new")
    page.fill("#name", "For tests")
    page.fill("#company_codes", "DEMO")
    for ability in abilities:
        page.check(f"[name='abilities:{ability}']")
    page.click("main button")
    return page.inner_text("#token")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as opened_browser:
        yield opened_browser


@pytest.fixture(scope="package")
def house(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("browser")
    program = Program(folder)
    home = Home(program, folder / "home")
    home.folder.mkdir()
    try:
        with home.serving("--demo", env=UNLIMITED, last_line="curl") as server:
            made = House(server, None, home.data)
            with opened(browser, server.address) as page:
                page.goto(made.link("First admin"))
                become_admin(page)
                yield House(server, page.context.storage_state(), home.data)
    finally:
        program.end()


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    """Open Ana's page."""
    with opened(browser, house.address, storage_state=house.state) as opened_page:
        yield opened_page


@pytest.fixture
def stranger(browser: Browser, house: House) -> Iterator[Page]:
    """Open the page of a person who is not signed in."""
    with opened(browser, house.address) as opened_page:
        yield opened_page


def become_admin(page: Page) -> None:
    for name, text in {**ADMIN, "again": ADMIN["password"]}.items():
        page.fill(f"#{name}", text)
    page.click("text=Create admin account")
    assert page.title() == "First steps · wmsd"
