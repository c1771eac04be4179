"""Tests of signing in through a real OpenID provider (npm's oidc-provider) in a real browser, with the provider on
another site.
"""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import UNLIMITED
from tests.support.chromium import ROOT, opened
from tests.support.command import Home
from tests.support.forked import Program
from tests.support.programs import packages, program

FOLDER: Final = ROOT / "tests" / "interfaces" / "openid_provider"
SETTINGS: Final = """
[sign_on]
allow_networks = ["127.0.0.1/32"]
allow_ports = ["1-65535"]
allow_http = true
[[sign_on.providers]]
name = "real"
title = "The accounts of the house"
issuer = "{issuer}"
client_id = "wmsd"
client_secret = "a secret / of + the client"
create_users = true
[[sign_on.providers.rules]]
claim = "groups"
value = "of-ana"
role = "company-admin"
companies = ["DEMO"]
[[sign_on.providers.rules]]
claim = "groups"
value = "of-mia"
role = "member"
companies = ["DEMO"]
abilities = ["articles:read"]
"""


@contextmanager
def provider(back_to: str) -> Iterator[str]:
    """Run the provider and yield its issuer."""
    packages(FOLDER)
    command = [program("node"), str(FOLDER / "provider.mjs"), back_to, "ES256"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.strip() for line in process.stdout if line.startswith("http"))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server with the demo.

    The host is `localhost`, a different site from the provider's 127.0.0.1.
    """
    folder: Path = tmp_path_factory.mktemp("sign-on")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = f"http://localhost:{port}"
    made = Program(folder)
    home = Home(made, folder / "home")
    home.folder.mkdir()
    try:
        with provider(f"{own}/sign-in/real/back") as issuer:
            home.write("config.toml", SETTINGS.format(issuer=issuer))
            listen = ("--listen", f"127.0.0.1:{port}")
            with home.serving("--demo", *listen, env=UNLIMITED, last_line="curl"):
                yield own
    finally:
        made.end()


def sign_on(page: Page, who: str) -> None:
    page.goto("/companies/1/articles")
    page.click("text=Sign in with The accounts of the house")
    page.fill("[name=login]", who)
    page.fill("[name=password]", "any")
    page.click("button[type=submit]")
    page.click("text=Continue")


@pytest.mark.parametrize(
    ("who", "role", "is_offered"),
    [
        pytest.param("ana", "company-admin", ["Articles", "Stock", "People"], id="a new user by the first rule"),
        pytest.param("mia", "member", ["Articles"], id="a new user by the second rule"),
        pytest.param("demo", "company-admin", ["Articles", "Stock", "People"], id="a user by the e-mail address"),
    ],
)
def test_each_mapping(browser: Browser, address: str, who: str, role: str, is_offered: list[str]) -> None:
    with opened(browser, address) as page:
        sign_on(page, who)
        expect(page.locator("h1")).to_have_text("Articles")
        links = page.locator(".rail .links a").all_inner_texts()
        assert [each for each in ("Articles", "Stock", "People") if each in links] == is_offered
        page.goto("/account")
        expect(page.locator(".title")).to_contain_text(f"{who}@example.com, {role}")


def test_links_of_other_sites_open_the_page(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        sign_on(page, "ana")
        expect(page.locator("h1")).to_have_text("Articles")
        page.goto(f"{address.replace('localhost', '127.0.0.1')}/sign-in")
        page.evaluate("to => { location = to }", f"{address}/account")
        expect(page.locator("h1")).to_have_text("Name of ana")


def test_nobody_comes_in_whom_no_rule_fits(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        sign_on(page, "ion")
        expect(page.locator("main")).to_contain_text("no rule matches this account")
        page.goto("/today")
        expect(page.locator("h1")).to_have_text("Sign in to wmsd")
