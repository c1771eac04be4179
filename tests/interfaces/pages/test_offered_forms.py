"""No page offers a form or a link that its user may not use: the page checks the same rights as the act."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.interfaces.pages.visitor import Visitor
from tests.support.page_addresses import addresses
from tests.support.thorough import IS_THOROUGH
from tests.support.two_tenants import OWN, TwoTenants, open_premises
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.contract.access import ABILITIES, Role

pytestmark = pytest.mark.long
READS: Final = tuple(each for each in ABILITIES if each.endswith(":read"))
WRITES: Final = tuple(each for each in ABILITIES if each not in READS)
PEOPLE: Final[dict[str, tuple[Role, tuple[str, ...]]]] = {
    "reader": ("member", READS),
    "counter": ("member", ("stock:read",)),
    **{f"only-{each.replace(':', '-')}": ("member", (each,)) for each in WRITES},
    **{f"also-{each.replace(':', '-')}": ("member", (*READS, each)) for each in WRITES if IS_THOROUGH},
    "worker": ("member", tuple(ABILITIES)),
    "lead": ("company-admin", ()),
    "owner": ("platform-admin", ()),
}
"""Role and abilities by name. Requests of the last two people may end the access of the others."""
ELSEWHERE: Final = ("/live", "/sign-out", "/account", "/docs", "/pages/", "/sign-in", "/sign-on")
"""The addresses that are not sent: a stream, the users' own pages, and pages without forms of records."""


class Offer(NamedTuple):
    page: str
    """The page that offers the form."""
    path: str
    fields: tuple[tuple[str, str], ...]


class Offers(HTMLParser):
    """A parser that collects the forms and the links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[Offer] = []
        self.links: set[str] = set()
        self._action: str | None = None
        self._fields: list[tuple[str, str]] = []
        self._buttons: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form" and given.get("method") == "post":
            self._action, self._fields, self._buttons = given.get("action") or self.page, [], []
        elif tag == "input" and given.get("type") in ("hidden", "checkbox") and "name" in given:
            self._fields.append((given["name"], given.get("value", "on")))
        elif tag == "button" and self._action is not None:
            self._buttons.append((given["name"], given.get("value", "")) if "name" in given else ("", ""))
        elif tag == "a" and given.get("href", "").startswith("/"):
            self.links.add(given["href"].partition("#")[0])

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._action is not None:
            for button in self._buttons:
                fields = [*self._fields, button] if button[0] else self._fields
                self.forms.append(Offer(self.page, self._action, tuple(fields)))
            self._action = None


@dataclass
class Walk:
    visitor: Visitor
    forms: dict[tuple[str, tuple[str, ...]], Offer] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    """The refused links, each with the page that offers the link."""
    pages: int = 0

    async def through(self, paths: Iterator[str]) -> None:
        offered: dict[str, str] = {}
        seen = set()
        for path in paths:
            seen.add(path)
            offered |= {link: path for link in await self._read(path) if link not in offered}
        for link, page in offered.items():
            if link not in seen and not link.startswith(ELSEWHERE):
                await self._read(link, page)

    async def _read(self, path: str, offered_by: str = "") -> set[str]:
        seen = await self.visitor.get(path)
        if seen.status == 403 and offered_by:
            self.refused.add((offered_by, path))
        if seen.status != 200 or not seen.headers["Content-Type"].startswith("text/html"):
            return set()
        self.pages += 1
        offers = Offers(path)
        offers.feed(seen.text)
        for form in offers.forms:
            acts = tuple(value for name, value in form.fields if name == "act")
            self.forms.setdefault((form.path, acts), form)
        return offers.links

    async def send(self) -> set[tuple[str, str]]:
        """Send all forms unchanged. Return page and address of the forms that are refused because of the user's
        rights.
        """
        refused = set()
        for form in self.forms.values():
            if form.path.startswith(ELSEWHERE):
                continue
            seen = await self.visitor.post(form.path, dict(form.fields))
            assert seen.status < 500, form
            if seen.status == 403:
                refused.add((form.page, form.path))
        return refused


@pytest.fixture
async def house(whole_processor: None, tmp_path: Path) -> AsyncIterator[tuple[World, TwoTenants]]:
    limits = {**UNLIMITED["limits"], "pages_per_minute": 10**6, "auth_per_minute": 10**6}
    async with open_world(tmp_path / "data", {**UNLIMITED, "limits": limits}) as world:
        own, _ = await open_premises(world, 5)
        yield world, own


async def test_every_form_and_way_on_a_page_is_open_to_whoever_sees_it(house: tuple[World, TwoTenants]) -> None:
    world, own = house
    walks = {}
    for name, (role, abilities) in PEOPLE.items():
        email = f"{name}@example.com"
        await world.new_user(email, role, () if role == "platform-admin" else (OWN,), abilities)
        walk = walks[name] = Walk(Visitor(world))
        assert (await walk.visitor.sign_in(email, PASSWORD)).status == 303
        there = addresses(world.app, own.id, own.there)
        await walk.through(
            each.path for each in there if each.method == "GET" and not each.path.startswith(ELSEWHERE)
        )
    assert {name: walk.refused for name, walk in walks.items() if walk.refused} == {}
    assert walks["reader"].pages > 40
    forms = {name: len(walk.forms) for name, walk in walks.items()}
    assert (forms["reader"] < 20, 60 < forms["worker"] < forms["lead"] < forms["owner"]) == (True, True), forms
    refused = {name: await walk.send() for name, walk in walks.items()}
    assert {name: each for name, each in refused.items() if each} == {}
