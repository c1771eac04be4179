"""Answers what is no HTTP: a head that is too long or broken never becomes a request, and meets no route."""

from typing import Any, Final

from wmsd.app.call import refusal
from wmsd.app.installation import Installation
from wmsd.app.refusals import broken_off
from wmsd.base.problems import Problem
from wmsd.base.shortages import is_shortage
from wmsd.interfaces.http.request_log import REQUEST_ID, RequestLog, reason_of
from wmsd.interfaces.http.web import web

UNREADABLE: Final = "This is no HTTP request that can be read"
MISTAKE: Final = "Something went wrong on the server. Its log has the request id."
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")


class RequestHandler(web.RequestHandler):
    """aiohttp's handler of a connection. The answers that it makes by itself have the form of all others."""

    __slots__ = ("_installation", "_log")

    def __init__(self, installation: Installation, log: RequestLog, server: web.Server, **options: Any) -> None:
        super().__init__(server, **options)
        self._installation, self._log = installation, log

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Raises ConnectionError when an answer has begun already."""
        super().handle_error(request, status, exc, message)
        request_id = request[REQUEST_ID] = self._installation.ids.unique()
        reason = reason_of(message or "")
        if status < 500:
            problem = Problem("VALIDATION_FAILED", f"{UNREADABLE}{reason}.", status=status)
        elif isinstance(exc, Exception) and is_shortage(exc):
            problem = broken_off(request.method not in SAFE_METHODS)
        else:
            problem = Problem("SERVER_ERROR", MISTAKE)
        told = refusal(problem)
        answer = web.Response(status=told.status, body=told.body, headers={**told.headers, "Server": "wmsd"})
        answer.content_type = "application/json"
        answer.headers["X-Request-Id"] = request_id
        answer.force_close()
        self._log.write(request, problem.status, 0.0, reason)
        return answer
