"""The HTTP handlers of the guide. Each page is rendered once, on a thread, and sent with an ETag."""

import asyncio
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from wmsd import docs
from wmsd.base.dataclass import dataclass
from wmsd.base.lazy_value import LazyValue
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.guide import contents
from wmsd.interfaces.guide.columns_page import COLUMNS
from wmsd.interfaces.guide.contents import FIRST, HOME, READERS, Reader, address_of, neighbours
from wmsd.interfaces.guide.settings_page import SETTINGS
from wmsd.interfaces.guide.source import Source, file_source
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.page_client import PageClient
from wmsd.interfaces.pages.kit.prepared_pages import PreparedPages
from wmsd.interfaces.pages.kit.rendering import render_page, render_text
from wmsd.interfaces.pages.kit.routing import add_visited
from wmsd.interfaces.pages.kit.search_pages import Make, SearchPages
from wmsd.interfaces.pages.kit.text import language

if TYPE_CHECKING:
    from wmsd.interfaces.guide.search import Entry, Index

DOCS: Final = files(docs)
SEARCH: Final = f"{HOME}/search"
LONGEST: Final = 200
"""The maximum number of characters of a query. Further characters are ignored."""
EXAMPLE_ADDRESS: Final = "http://127.0.0.1:8480"
"""The address of a server with default settings. The guide uses this address in its commands."""
MOST_HEADINGS: Final = 40
"""The maximum number of headings that are listed next to a page. On a page with more headings, only the larger
headings are listed.
"""
WEIGHT_OF_A_ROW: Final = 0.6
"""The search weight of a table row. It is lower than that of a section, so a section about an error code comes
before a table with the same code.
"""
WEIGHT_OF_A_BEGINNING: Final = 1.3
"""The search weight of a page's beginning. It is higher than that of a section, so a page about a topic comes
before sections that mention the topic.
"""


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    title: str
    address: str


def add_to(app: web.Application, installation: Installation, others: Mapping[str, Source]) -> None:
    """Add the guide to `app`. `others` has the pages that other modules generate from declarations, by name."""
    guide = Guide(installation, others)
    add_visited(app, "page", "GET", "/", _home)
    add_visited(app, "guide", "GET", HOME, guide.show)
    add_visited(app, "guide", "GET", SEARCH, guide.search)
    add_visited(app, "guide", "GET", f"{HOME}/{{name}}", guide.show)


async def _home(request: web.Request) -> web.Response:
    raise web.HTTPFound("/today")


def _written(folder: Traversable) -> Iterator[tuple[str, Source]]:
    for file in folder.iterdir():
        if file.name.endswith(".md"):
            yield file.name.removesuffix(".md"), file_source(file)


def sources(others: Mapping[str, Source]) -> Mapping[str, Source]:
    """Return all pages of the guide by name. `others` has the pages that other modules generate."""
    return {**dict(_written(DOCS)), "settings": SETTINGS, "columns": COLUMNS, **others}


def entries(pages: Mapping[str, Source]) -> "Iterator[Entry]":
    """Yield the search entries of these pages."""
    from wmsd.interfaces.guide.markdown import read_markdown
    from wmsd.interfaces.guide.search import Entry

    for name in contents.ORDER:
        document = read_markdown(pages[name].markdown())
        page_weight = contents.WEIGHTS.get(name, 1.0)
        for section in document.sections:
            place = "" if section.id == document.title.id else f"#{section.id}"
            address = address_of(name) + place
            of_kind = WEIGHT_OF_A_ROW if section.is_row else 1.0 if place else WEIGHT_OF_A_BEGINNING
            yield Entry(document.title.text, address, section.heading, section.text, page_weight * of_kind)


def _found(index: "Index", frame: Mapping[str, Any]) -> str:
    from wmsd.interfaces.guide.excerpts import as_html  # imported at the first search

    results = index.search(frame["query"])
    found = [
        (entry.address, as_html(heading), "" if entry.page == entry.heading else entry.page, as_html(excerpt))
        for entry, heading, excerpt in results.found
    ]
    return render_text("guide_search", **frame, results=results, found=found)


class Guide:
    def __init__(self, installation: Installation, others: Mapping[str, Source]) -> None:
        self._door = PageClient(installation)
        self._folder = installation.folder
        self._public_url = installation.settings.server.public_url
        self._sources = sources(others)
        self._translated: dict[tuple[str, str], Source] = {
            (name, of): source
            for of in language.OFFERED
            if of != language.DEFAULT
            for name, source in _written(DOCS / of)
        }
        self._pages = PreparedPages()
        self._frames: dict[tuple[bool, str], Mapping[str, Any]] = {}
        """The results of `_frame`. The key says whether the user is signed in, and which language the page has."""
        self._found = SearchPages(self._door.work)
        self._index = LazyValue(self._new_index)

    async def show(self, request: web.Request) -> web.Response:
        key = request.match_info.get("name", FIRST), self._is_signed_in(request), await self._language_of(request)
        if key[0] not in self._sources:
            return render_page("guide_missing", 404, **await self._frame(request))
        answer = await self._pages.answer(request, key, partial(self._page, *key))
        answer.headers["Vary"] = "Accept-Language, Cookie"
        return answer

    async def search(self, request: web.Request) -> web.Response:
        """Answer a search. The page for a query is rendered only once.

        Only a few searches are rendered at the same time. Further searches wait.
        """
        query = " ".join(request.query.get("q", "")[:LONGEST].split())
        of = await self._language_of(request)

        async def prepared() -> Make:
            index, frame = await self._index.get(), {**await self._frame(request), "query": query}
            return partial(_found, index, frame)

        address = self._door.browser(request).address
        return await self._found.answer((query, str(self._is_signed_in(request)), of), address, prepared)

    def _new_index(self) -> "Index":
        from wmsd.interfaces.guide.search import Index  # imported at the first search

        return Index(entries(self._sources))

    async def _language_of(self, request: web.Request) -> str:
        """Return the language of the page that is being rendered."""
        await self._door.find_person(request)
        return language.current.get()

    def _is_signed_in(self, request: web.Request) -> bool:
        """Return True if the browser sends a session cookie.

        The session is not checked. The result only decides which link the page shows.
        """
        return self._door.browser(request).secret is not None

    async def _frame(self, request: web.Request) -> Mapping[str, Any]:
        """Return the template values for a page that the table of contents does not list, such as search results.

        The values are cached.
        """
        key = (self._is_signed_in(request), language.current.get())
        if key not in self._frames:
            self._frames[key] = await asyncio.to_thread(self._framed, None, key[0])  # reads the titles from files
        return self._frames[key]

    def _framed(self, current: str | None, is_signed_in: bool) -> dict[str, Any]:
        """Return the template values that all pages of the guide need: the table of contents, and whether the user
        is signed in.

        `current` is the page that is marked in the table of contents. The titles are in the language of the
        request.
        """
        from markupsafe import Markup

        contents = Markup(render_text("guide_contents", parts=self._parts, current=current))  # noqa: S704 a template
        frame = {"parts": self._parts, "contents": contents, "current": current}
        return {**frame, "is_signed_in": is_signed_in, "query": ""}

    @cached_property
    def _parts(self) -> list[tuple[Reader, list[Link]]]:
        """The links to the pages of the guide, grouped by kind of reader."""
        return [(reader, [self._link(name) for name in reader.pages]) for reader in READERS]

    def _link(self, name: str) -> Link:
        title = contents.ELSEWHERE.get(name) or self._sources[name].title
        return Link(name, title, address_of(name))

    def _page(self, name: str, is_signed_in: bool, of: str) -> str:
        from wmsd.interfaces.guide.markdown import read_markdown  # imported at the first page of the guide

        source = self._translated.get((name, of)) or self._sources[name]
        # The commands contain the address of this server, so that users can copy them unchanged.
        address = self._public_url or self._folder.address or EXAMPLE_ADDRESS
        text = source.markdown().replace(EXAMPLE_ADDRESS, address)
        document = read_markdown(text)
        headings = document.headings
        if len(headings) > MOST_HEADINGS:
            headings = [each for each in headings if each.level == 2]
        before, after = (each and self._link(each) for each in neighbours(name))
        return render_text(
            "guide_home" if name == FIRST else "guide_page",
            **self._framed(name, is_signed_in),
            is_translated=of == language.DEFAULT or (name, of) in self._translated,
            title=document.title,
            headings=headings,
            introduction=document.introduction,
            rest=document.rest,
            before=before,
            after=after,
        )
