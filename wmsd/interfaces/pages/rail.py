"""The column on the left, which leads to all that a person may see. Made by functions, because every page has it,
and macros of a template take ten times as long. Whatever is not written here passes through `escape`.
"""

from collections.abc import Iterator
from typing import Final

from markupsafe import Markup, escape

from wmsd.interfaces.pages.administration import administered_by
from wmsd.interfaces.pages.door import Person
from wmsd.interfaces.pages.house_pages import overseen_by
from wmsd.interfaces.pages.language import translated as _
from wmsd.interfaces.pages.workplace import AdminWorkplace, CompanyWorkplace, Workplace

KEYS: Final = {
    "today": "t",
    "sales-orders": "o",
    "purchase-orders": "p",
    "receptions": "r",
    "returns": "u",
    "stock": "s",
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
"""What is pressed after g, by the name of the place."""
Link = tuple[str, str, str]
"""Its name, its address, and its text in the language of the page."""


def rail(person: Person, at: Workplace | None, current: str) -> Markup:
    """`at` is where the page is, if it is of a company or of the administration."""
    here = f"admin-{current}" if isinstance(at, AdminWorkplace) else current
    company = at if isinstance(at, CompanyWorkplace) else None
    parts = [_links([("today", "/today", _("Today"))], here)]
    if company:
        parts.append(
            f"<h2>{escape(company.name)}</h2>\n{_others(company, here)}{_links(_of_company(company), here)}"
        )
    parts.append(f"<h2>{escape(_('Connected'))}</h2>\n{_links(_of_programs(company), here)}")
    parts.append(f"<h2>{escape(_('House'))}</h2>\n{_links(_of_house(person), here)}")
    return Markup("".join(parts))  # noqa: S704 -- its parts are escaped


def _links(links: Iterator[Link] | list[Link], here: str) -> str:
    return "".join(
        f'<a href="{escape(address)}"{_key(name)}{_current(name == here)}>{escape(text)}</a>\n'
        for name, address, text in links
    )


def _key(name: str) -> str:
    return f' data-key="{KEYS[name]}"' if name in KEYS else ""


def _current(is_here: bool) -> str:
    return ' aria-current="page"' if is_here else ""


def _of_company(company: CompanyWorkplace) -> Iterator[Link]:
    for each in company.resources:
        yield each.name, f"{company.address}/{each.name}", _(each.title)


def _others(company: CompanyWorkplace, here: str) -> str:
    """Leads to the same list of another company, without a way over Today."""
    if not company.others:
        return ""
    own = (*_of_company(company), *_of_programs(company))
    address = next((address for name, address, _text in own if name == here), company.address)
    links = [
        (f"company-{id}", address.replace(company.address, f"/companies/{id}", 1), name)
        for id, name in company.others
    ]
    if company.has_more:
        links.append(("more", "/today#search", _("Find another on Today")))
    summary = f"<summary>{escape(_('Another company'))}</summary>"
    return f'<details class="others">{summary}\n{_links(links, here)}</details>\n'


def _of_programs(company: CompanyWorkplace | None) -> Iterator[Link]:
    if company:
        yield "requests", f"{company.address}/requests", _("Requests")
    yield "api", "/docs/api", _("API reference")


def _of_house(person: Person) -> Iterator[Link]:
    named = [(each.name, each.title) for each in administered_by(person.role)]
    named += [(each.name, each.title) for each in overseen_by(person.role)]
    for name, title in named:
        yield f"admin-{name}", f"/admin/{name}", _(title)
    if person.role == "platform-admin":
        yield "start", "/start", _("First steps")
    yield "guide", "/docs", _("Guide")
    if person.role == "platform-admin":
        yield "sign-on", "/sign-on/try", _("Try a sign-on")
