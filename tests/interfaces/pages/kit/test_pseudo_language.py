"""Every text of a page is translated: the test catalogue puts each translation into brackets, so text outside of
brackets must be data.
"""

import gettext
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interfaces.pages.admin.test_health_pages import of_house
from tests.interfaces.pages.visitor import Visitor
from tests.support.finding_texts import one_of_each
from tests.support.page_addresses import addresses
from tests.support.two_tenants import TwoTenants, open_premises
from tests.support.world import PASSWORD, UNLIMITED, World, all_rows, open_world
from wmsd import __version__
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.base.time_zones import offset
from wmsd.contract.access import ABILITIES, MODULES, ROLES
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.pages.kit import menu
from wmsd.interfaces.pages.kit.text import language
from wmsd.settings.all_settings import sections
from wmsd.tenants.accounts.schema import LANGUAGES
from wmsd.tenants.companies import store

BEFORE_SIGNING_IN: Final = ("/sign-in", "/first-admin", "/demo", "/welcome", "/trust", "/sign-in/{provider}/back")
STREAM: Final = "/live"
SHOWN: Final = ("aria-label", "placeholder", "title", "alt", "data-on", "data-lost", "data-over", "data-copied")
"""The attributes that people read or hear."""
CODE: Final = frozenset({"script", "style", "pre", "code", "textarea"})
EMPTY: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})
NAMES: Final = {
    *("wmsd", "UTC", "CSV", "API", "ms", "GET", "POST", "PATCH", "X-Request-Id"),
    "true",
    "false",
    "null",
    "X-Webhook-Id",
    "X-Webhook-Epoch",
    __version__,
    *EVENTS,
    *ABILITIES,
    *MODULES,
    *ROLES,
    *LANGUAGES.values(),
    *STATUS_OF_CODE,
    *("active", "2xx", "3xx", "4xx", "5xx", "bearer", "basic", "custom"),
    *("success", "failure", "gone", "late"),
}
DATE: Final = re.compile(r"\d\d:\d\d UTC|\d{1,2} [a-z]{3,4}\.? \d{4}(, \d\d:\d\d(:\d\d)? UTC)?")
MEASURE: Final = re.compile(r"\d[\d.,\u202f]*\u202f? ?(ms|s|min|h|kB|MB|GB|TB)\b")
AROUND: Final = '" .,;:·()\N{EN DASH}→'
"""The signs that may surround data."""
IDENTIFIER: Final = re.compile(r"[a-z]+(_[a-z]+)+")
"""A pattern for identifiers, such as the name of an operation."""
ADDRESS: Final = ("/", "https://", "POST https://")
LETTERS: Final = re.compile(r"[^\W\d_]{2}")


class Pseudo(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"

    def pgettext(self, context: str, message: str) -> str:
        return f"⟦{message}⟧"


class Missed(gettext.NullTranslations):
    """A catalogue that collects the missing texts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def gettext(self, message: str) -> str:
        self.texts.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.texts.add(msgid1)
        return msgid1


def outside(text: str, depth: int = 0) -> tuple[str, int]:
    """Return the text outside of the brackets, and how many brackets are open at the end of the text."""
    kept = []
    for each in text:
        if each == "⟦":
            depth += 1
        elif each == "⟧":
            depth -= 1
            kept.append("\n")
        elif depth == 0:
            kept.append(each)
    return "".join(kept), depth


class Reader(HTMLParser):
    """A parser that collects the text outside of the brackets that people read."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[bool] = []
        """For each open element, whether its content is code or a text in another language."""
        self.depth = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in EMPTY:
            self.open.append(tag in CODE or (tag != "html" and "lang" in given))
        self.found += [outside(given[name] or "")[0] for name in SHOWN if name in given]

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY and self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        text, self.depth = outside(data, self.depth)
        if not any(self.open):
            self.found.append(text)


def untranslated(page: str, data: frozenset[str]) -> list[str]:
    reader = Reader()
    reader.feed(page)
    assert reader.depth == 0
    parts = [
        part for text in reader.found for part in re.split(r"\n|[,;:·] ", MEASURE.sub("\n", DATE.sub("\n", text)))
    ]
    said = [" ".join(part.split()).strip(AROUND) for part in parts]
    read = [each for each in said if LETTERS.search(each) and not IDENTIFIER.fullmatch(each)]
    return [each for each in read if each not in data and not each.startswith(ADDRESS)]


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in texts_of(each))
    elif isinstance(value, list | tuple) or hasattr(value, "keys"):
        yield from (text for each in value for text in texts_of(each))


@dataclass
class Scene:
    world: World
    company: TwoTenants
    visitor: Visitor
    data: frozenset[str]

    async def pages(self) -> AsyncIterator[tuple[str, str]]:
        """Yield the address and the text of each page, in Romanian."""
        for each in addresses(self.world.app, self.company.id, self.company.there):
            if each.method == "GET" and each.route != STREAM:
                visitor = Visitor(self.world) if each.route in BEFORE_SIGNING_IN else self.visitor
                seen = await visitor.get(each.path, {"Accept-Language": "ro"})
                if seen.text and seen.headers["Content-Type"].startswith("text/html"):
                    yield each.path, seen.text


@pytest.fixture(autouse=True)
def no_kept_links() -> Iterator[None]:
    """Clear the caches of the pages, which hold texts in the previous language."""
    for kept in (menu._of_place, menu._of_installation):
        kept.cache_clear()
    yield
    for kept in (menu._of_place, menu._of_installation):
        kept.cache_clear()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_world(tmp_path / "data", UNLIMITED, started=of_house) as world:
        one_of_each(world.installation.folder.path)
        company, _ = await open_premises(world, 5)
        await world.new_user("ana@example.com", "platform-admin")
        visitor = Visitor(world)
        await visitor.sign_in("ana@example.com", PASSWORD)
        rows = [await company.rows(), await world.installation.platform.read(all_rows)]
        settings = world.installation.settings.model_dump()
        names = [f"{section}.{name}" for section, model in sections().items() for name in model.model_fields]
        names.append(f"webhook {company.there['webhook with a log']}")  # the name of a webhook without a name
        data = {" ".join(each.split()).strip(AROUND) for each in texts_of([rows, settings, names])}
        here = world.clock.now().astimezone(world.installation.time_zone)
        data |= {world.installation.time_zone.key, f"{world.installation.time_zone.key} {offset(here)}"}
        companies = await world.installation.platform.read(store.companies)
        data |= {f"{each.code} \N{EN DASH} {each.name}" for each in companies}
        yield Scene(world, company, visitor, frozenset(data | NAMES))


async def test_what_is_not_translated_on_a_page_is_data(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        language, "_catalogue", lambda code: Pseudo() if code == "ro" else gettext.NullTranslations()
    )
    found = {path: untranslated(text, scene.data) async for path, text in scene.pages()}
    assert {path: left for path, left in found.items() if left} == {}


async def test_the_catalogue_has_what_each_page_says(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of declared tables and of the columns of records are in the catalogue too."""
    catalogue, missed = language._catalogue("ro"), Missed()
    monkeypatch.setattr(catalogue, "_fallback", missed)
    assert [path async for path, _ in scene.pages()]
    assert missed.texts == set()


def test_a_text_that_is_forgotten_is_found() -> None:
    said = '<p>⟦Since ⟦Monday⟧ <b>at</b> 8⟧</p><p title="Forgotten">Also this</p><code>not code</code>'
    page = f'<html lang="ro">{said}</html>'
    assert untranslated(page, frozenset()) == ["Forgotten", "Also this"]
    assert untranslated(page, frozenset({"Forgotten", "Also this"})) == []
