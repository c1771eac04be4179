"""The menu on the left, with links to all pages that a person may see.

Functions build the menu, because the macros of a template take ten times as long, and every page has the menu. The
parts of the menu are cached, because most pages share them. Every text from outside of this file passes through
`escape`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from wmsd.contract.access import Role
from wmsd.contract.permissions import is_on
from wmsd.interfaces.pages.kit.admin_menu import admin_pages_of
from wmsd.interfaces.pages.kit.installation_resources import administered_by
from wmsd.interfaces.pages.kit.page_client import Person
from wmsd.interfaces.pages.kit.text.language import current as language_of_page
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import AdminWorkplace, CompanyWorkplace, Workplace
from wmsd.tenants.companies.unknown_codes import names_apart
from wmsd.warehouse.papers.actions import change_papers

KEYS: Final = {
    "today": "t",
    "sales-orders": "o",
    "purchase-orders": "p",
    "receptions": "r",
    "returns": "u",
    "stock": "s",
    "counts": "c",
    "articles": "a",
    "partners": "n",
    "imports": "i",
    "webhooks": "w",
    "events": "e",
    "requests": "q",
    "api": "x",
    "admin-health": "h",
    "guide": "d",
}
"""The key that people press after `g` to open a page, by the name of the page."""
REQUESTS: Final = "requests"
PAPERS: Final = "papers"
MOST_KEPT: Final = 512
"""The maximum number of menus in a cache. Companies and the installation have a cache each."""
Link = tuple[str, str, str]
"""The name of a page, its address, and its text in the language of the page."""


class Place(NamedTuple):
    """A company, and the kinds of its records that the person may see."""

    name: str
    address: str
    resources: tuple[tuple[str, str], ...]
    """The name and the title of each kind of record that the person may see."""
    others: tuple[Link, ...]
    has_more: bool


def rail(person: Person, at: Workplace | None, current: str) -> Markup:
    """Return the menu as HTML.

    `at` is the company or the administration to which the page belongs. It is None for other pages, such as Today.
    The link to the page `current` is marked.
    """
    here, language = f"admin-{current}" if isinstance(at, AdminWorkplace) else current, language_of_page.get()
    place = None
    if isinstance(at, CompanyWorkplace):
        resources = tuple((each.name, each.title) for each in at.resources)
        if at.may(change_papers):
            resources = (*resources, (PAPERS, "Printed documents"))
        names = names_apart([at, *at.others])
        place = Place(names[at.code], at.address, resources, tuple(_to_others(at, here, names)), at.has_more)
    return Markup(_of_place(place, here, language) + _of_installation(person.role, here, language))  # noqa: S704 -- its parts are escaped


def _to_others(at: CompanyWorkplace, here: str, names: Mapping[str, str]) -> Iterator[Link]:
    """Yield a link to the list `here` of each other company.

    `names` has the names of the companies by their codes. If the list is not available in a company, the link
    leads to the company's first page.
    """
    modules = {REQUESTS: None, PAPERS: None, **{each.name: each.listing.module for each in at.resources}}
    for each in at.others:
        is_there = here in modules and is_on(modules[here], each.modules)
        yield f"company-{each.id}", f"/companies/{each.id}{f'/{here}' if is_there else ''}", names[each.code]


@lru_cache(MOST_KEPT)
def _of_place(place: Place | None, here: str, language: str) -> str:
    parts = [_links([("today", "/today", _("Today"))], here)]
    if place:
        own = [(name, f"{place.address}/{name}", _(title)) for name, title in place.resources]
        parts.append(f"<h2>{escape(place.name)}</h2>\n{_others(place, here)}{_links(own, here)}")
    parts.append(f"<h2>{escape(_('Connections'))}</h2>\n{_links(_programs(place), here)}")
    return "".join(parts)


def _others(place: Place, here: str) -> str:
    """Return the HTML with links to the list `here` of other companies.

    With these links, a person can change the company without opening the page Today.
    """
    if not place.others:
        return ""
    links = [*place.others]
    if place.has_more:
        links.append(("more", "/today#search", _("More companies on Today")))
    summary = f"<summary>{escape(_('Another company'))}</summary>"
    return f'<details class="others">{summary}\n{_links(links, here)}</details>\n'


def _programs(place: Place | None) -> Iterator[Link]:
    if place:
        yield REQUESTS, f"{place.address}/{REQUESTS}", _("Requests")
    yield "api", "/docs/api", _("API reference")


@lru_cache(MOST_KEPT)
def _of_installation(role: Role, here: str, language: str) -> str:
    return f"<h2>{escape(_('Administration'))}</h2>\n{_links(_installation_entries(role), here)}"


def _installation_entries(role: Role) -> Iterator[Link]:
    named = [(each.name, each.title) for each in administered_by(role)]
    named += [(each.name, each.title) for each in admin_pages_of(role)]
    for name, title in named:
        yield f"admin-{name}", f"/admin/{name}", _(title)
    if role == "platform-admin":
        yield "start", "/start", _("First steps")
    yield "guide", "/docs", _("Guide")
    if role == "platform-admin":
        yield "sign-on", "/sign-on/try", _("Test single sign-on")


def _links(links: Iterator[Link] | list[Link], here: str) -> str:
    return "".join(
        f'<a href="{escape(address)}"{_key(name)}{_current(name == here)}>{escape(text)}</a>\n'
        for name, address, text in links
    )


def _key(name: str) -> str:
    return f' data-key="{KEYS[name]}"' if name in KEYS else ""


def _current(is_here: bool) -> str:
    return ' aria-current="page"' if is_here else ""
