"""Pages that everybody may see: how their requests are counted, and how every page shows a refusal.

Who is signed in is counted by the session, so that nobody else at the same address can take the pages away.
Others are counted by address, and by what they ask for: reading the guide never uses up the sign-in page's part.
"""

from functools import partial
from typing import Final, Literal

from wmsd.base.problems import Problem
from wmsd.interfaces.http.server import INSTALLATION, Handler, add
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import language
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.language import translated as _
from wmsd.interfaces.pages.rendering import page

HEADINGS: Final = {
    403: "That is not allowed",
    404: "There is nothing here",
    413: "That is too much",
    408: "That took too long",
    429: "Too many requests at once",
}
OTHER: Final = "That cannot be done"
Kind = Literal["page", "guide", "asset"]


def add_visited(app: web.Application, kind: Kind, method: str, path: str, handler: Handler) -> None:
    """Adds a page that everybody may see."""
    counted = partial(_count, Door(app[INSTALLATION]), kind, handler)
    add(app, method, path, partial(in_words, counted))


async def _count(door: Door, kind: Kind, handler: Handler, request: web.Request) -> web.StreamResponse:
    await door.count_visit(door.browser(request), kind)
    return await handler(request)


async def in_words(handler: Handler, request: web.Request) -> web.StreamResponse:
    """In the language that the browser asks for, or else its person has chosen. Shows a refusal as a page."""
    language.current.set(language.of_browser(request.headers.get("Accept-Language", "")))
    try:
        return await handler(request)
    except Problem as problem:
        shown = page(
            "refused", problem.status, heading=_(HEADINGS.get(problem.status, OTHER)), message=problem.message
        )
        shown.headers.update(problem.headers)
        return shown
