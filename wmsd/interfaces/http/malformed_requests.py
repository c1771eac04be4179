"""Answers to malformed HTTP: a head that is too long or broken never becomes a request, and reaches no route."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from wmsd.base.machine.shortages import is_shortage
from wmsd.base.problems import Problem
from wmsd.contract.near_paths import NOWHERE
from wmsd.dispatch.call import Reply, refusal
from wmsd.dispatch.refusals import broken_off
from wmsd.dispatch.request_measures import OTHER
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import connections
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.listener import Answering
from wmsd.interfaces.http.request_head import LARGEST_HEADER, MOST_HEADERS
from wmsd.interfaces.http.request_log import CALL, REQUEST_ID, RequestLog, reason_of
from wmsd.interfaces.http.route_table import RouteTable

UNREADABLE: Final = "This is not a valid HTTP request"
MISTAKE: Final = "The server had an internal error. Look for the request id in its log."
PARSER_FAILED: Final = re.compile(r"[`\w ]+ callback error")
"""The parser's message if one of its callbacks has failed. The callbacks fail only if memory is short."""
TOO_LARGE_STATUS: Final = 431
ALWAYS: Final = {"Server": "wmsd", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
TOO_LARGE: Final = re.compile(rf"Got more than {LARGEST_HEADER} bytes|Too many headers")
"""The first words of the parser's messages about a head that is too large."""
HEAD_TOO_LARGE: Final = (
    f"The head of this request is too large. A header can have {LARGEST_HEADER} bytes, and a request "
    f"{MOST_HEADERS} headers."
)
PageOfLargeHead = Callable[[str, str], web.Response]
PAGE_OF_LARGE_HEAD: Final = web.AppKey[PageOfLargeHead]("page_of_large_head")
"""The function that creates the page for a browser. Arguments: the Accept-Language header, and the id of the
request.
"""
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")


class RequestHandler(web.RequestHandler):
    """aiohttp's handler of a connection. It answers malformed requests in the same format as all other errors of
    wmsd.
    """

    __slots__ = ("_app", "_installation", "_log")

    def __init__(
        self,
        installation: Installation,
        log: RequestLog,
        server: web.Server,
        app: web.Application | None = None,
        **options: Any,
    ) -> None:
        super().__init__(server, **options)
        self._installation, self._log, self._app = installation, log, app

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to a malformed or failed request. Raise ConnectionError if an answer has begun."""
        super().handle_error(request, status, exc, message)
        problem = self._problem(request, status, exc, message or "")
        answer = _answered(
            self._installation,
            self._log,
            request,
            refusal(problem),
            reason_of(message or ""),
            self._page_of_large_head(request) if problem.status == TOO_LARGE_STATUS else None,
        )
        answer.force_close()
        if exc is not None:
            exc.__traceback__ = None  # the traceback refers to a frame that refers to the error
        return answer

    def _page_of_large_head(self, request: web.BaseRequest) -> Callable[[str], web.Response] | None:
        """Return the function that creates the error page for a browser. Its argument is the request id. Return
        None if the client is not a browser.

        The parser stores nothing of a head that is too large. So this method uses the beginning of the head, which
        the connection stores.
        """
        connection = connections.of(request)
        if self._app is None or connection is None or not connection.head.reads_pages:
            return None
        return partial(self._app[PAGE_OF_LARGE_HEAD], connection.head.languages)

    def _problem(
        self, request: web.BaseRequest, status: int, error: BaseException | None, message: str
    ) -> Problem:
        if status >= 500:
            if isinstance(error, Exception) and is_shortage(error):
                return broken_off(request.method not in SAFE_METHODS)
            return Problem("SERVER_ERROR", MISTAKE)
        if PARSER_FAILED.match(message):
            self._log.shortages.failed("requests are interrupted", MemoryError("the parser ran out of memory"))
            return broken_off(may_have_written=False)  # no handler has seen the request
        if TOO_LARGE.match(message):
            return Problem("VALIDATION_FAILED", HEAD_TOO_LARGE, status=TOO_LARGE_STATUS)
        return Problem("VALIDATION_FAILED", f"{UNREADABLE}{reason_of(message)}.", status=status)


def answering_all(installation: Installation, log: RequestLog, table: RouteTable, handle: Answering) -> Answering:
    """Return the handler for all requests. It calls the route that `table` finds, or `handle` if there is no
    route.

    Requests without a path, such as `OPTIONS *` and CONNECT, match no route. The handler refuses such requests.
    """

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, web.Request)
        found = table.find(request)
        if found is not None:
            return await found(request)
        try:
            return await handle(request)
        except web.HTTPException as error:
            error.__traceback__ = None  # as in `handle_error`
            nowhere = Problem("NOT_FOUND", NOWHERE, status=error.status)
            return _answered(installation, log, request, refusal(nowhere), "")

    return answer


def _answered(
    installation: Installation,
    log: RequestLog,
    request: web.BaseRequest,
    reply: Reply,
    reason: str,
    page: Callable[[str], web.Response] | None = None,
) -> web.Response:
    """Return the answer to a malformed request, and log the request.

    `page` is the function that creates the answer for a browser from the request id. If `page` is None, the answer
    is JSON.
    """
    request_id = request[REQUEST_ID] = installation.ids.unique()
    if page is None:
        answer = web.Response(status=reply.status, body=reply.body, headers=reply.headers)
        answer.content_type = "application/json"
    else:
        answer = page(request_id)
    answer.headers.update({**ALWAYS, "X-Request-Id": request_id})
    installation.measures.surfaces[OTHER].note(reply.status, 0.0)
    log.write(request, request.get(CALL), reply.status, 0.0, reason)
    return answer
