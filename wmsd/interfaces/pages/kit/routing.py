"""Registers pages. Defines how the rate limit counts public pages, and how a page shows a refusal.

The rate limit counts signed-in people by session, so that other people at the same address cannot block them. It
counts other visitors by address and by kind of page. So a visitor who has read many pages of the guide can still
sign in.
"""

from functools import partial
from typing import Final, Literal

from wmsd.base.problems import Problem, not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.failure_page import reads_pages
from wmsd.interfaces.http.request_log import RequestLog
from wmsd.interfaces.http.route_table import Handler
from wmsd.interfaces.http.server import (
    INSTALLATION,
    OUTSIDE_OF_THE_API,
    REQUEST_LOG,
    add_route,
    address_refused,
    failure,
    with_head,
)
from wmsd.interfaces.pages.kit import refusal_page
from wmsd.interfaces.pages.kit.page_client import PERSON, RETRY_AFTER, PageClient
from wmsd.interfaces.pages.kit.text import language, zone
from wmsd.interfaces.pages.kit.workplace import AT

Kind = Literal["page", "guide", "asset", "missing"]
METHODS: Final = web.AppKey("methods_of_pages", dict[str, list[str]])
"""The HTTP methods of each page, by the address of the page."""
IS_COMPLETE: Final = web.AppKey("has_all_pages", bool)
WRONG_METHOD: Final = (
    "This address is a page for browsers, and does not accept the method of this request. Programs use the "
    "addresses under /api."
)


def add_visited(app: web.Application, kind: Kind, method: str, path: str, handler: Handler) -> None:
    """Add a public page. The rate limit counts signed-in visitors by session, and others by address and `kind`."""
    add_page(app, method, path, partial(_count, PageClient(app[INSTALLATION]), kind, handler))


def add_page(app: web.Application, method: str, path: str, handler: Handler) -> None:
    """Add a page whose operations the rate limit counts.

    Raise RuntimeError if `refuse_all_else` was already called, because no request reaches a page that is added
    later.
    """
    if app.get(IS_COMPLETE):
        raise RuntimeError(f"{path} can never be reached: add it before the route that refuses all other paths.")
    if METHODS not in app:
        app[METHODS] = {}
    app[METHODS].setdefault(path, []).append(method)
    add_route(app, method, path, partial(_in_words, PageClient(app[INSTALLATION]), app[REQUEST_LOG], handler))


def refuse_all_else(app: web.Application) -> None:
    """Add the handlers that refuse other methods of pages, and unknown addresses outside of the API.

    After this, no page can be added.
    """
    for path, methods in app[METHODS].copy().items():
        add_visited(app, "missing", "*", path, partial(_refuse_method, with_head(methods)))
    add_visited(app, "missing", "*", OUTSIDE_OF_THE_API, _refuse_address)
    app[IS_COMPLETE] = True


async def _count(door: PageClient, kind: Kind, handler: Handler, request: web.Request) -> web.StreamResponse:
    await door.count_visit(door.browser(request), kind)
    return await handler(request)


async def _in_words(
    door: PageClient, log: RequestLog, handler: Handler, request: web.Request
) -> web.StreamResponse:
    """Run `handler` in the visitor's language and time zone. If the request is refused, answer with a page.

    At first, the language is that of the browser, and the time zone that of the installation. Both can change when
    the handler finds the person or the company. If the handler fails, a client that accepts HTML gets an error
    page too.
    """
    language.current.set(language.of_browser(request.headers.get("Accept-Language", "")))
    zone.begin(door.time_zone, door.now)
    try:
        answer = await _shown(door, log, handler, request)
    finally:
        for known in (PERSON, AT):  # both refer back to the request: only a garbage collection would free them
            request.pop(known, None)
    if answer.status in (429, 503) and RETRY_AFTER in request:
        answer.headers.setdefault("Retry-After", request[RETRY_AFTER])
    return answer


async def _shown(door: PageClient, log: RequestLog, handler: Handler, request: web.Request) -> web.StreamResponse:
    try:
        return await handler(request)
    except Problem as problem:
        if problem.status >= 500:
            return await refusal_page.failed(door, request, problem)
        return await refusal_page.refusal_page(door, request, problem)
    except (web.HTTPException, ConnectionResetError):
        raise
    except Exception as error:
        if not reads_pages(request):
            raise
        return await refusal_page.failed(door, request, failure(log, request, error))


async def _refuse_method(possible: list[str], request: web.Request) -> web.StreamResponse:
    raise Problem("METHOD_NOT_ALLOWED", WRONG_METHOD, headers={"Allow": ", ".join(sorted(possible))})


async def _refuse_address(request: web.Request) -> web.StreamResponse:
    """Refuse an unknown address. Only a client that accepts HTML gets an error page. A request for an icon gets no
    page.
    """
    if reads_pages(request):
        raise not_found("page")
    return address_refused(request)
