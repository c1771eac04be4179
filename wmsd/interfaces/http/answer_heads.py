"""The headers that every answer has."""

from typing import Final

from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import connections
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.compression import compress
from wmsd.interfaces.http.cross_origin import allow
from wmsd.interfaces.http.problem_details import translate
from wmsd.interfaces.http.request_log import REQUEST_ID
from wmsd.interfaces.http.requests import is_of_the_api
from wmsd.settings.all_settings import Settings

VARY: Final = "Accept, Accept-Encoding, Authorization, X-Company-Id"
HSTS: Final = "max-age=31536000"
"""The value of the header Strict-Transport-Security (RFC 6797): one year in seconds. Browsers require at least a
year for their built-in lists of hosts.
"""
BEGUN: Final = web.RequestKey("begun", web.StreamResponse)
"""The key under which a request has its answer, from the moment when the head of the answer is sent."""


async def note_begun(installation: Installation, request: web.Request, answer: web.StreamResponse) -> None:
    """Record on the request that its answer begins, just before the head is sent. Complete the head of a streamed
    answer.

    aiohttp calls this function, except for routes that `RouteTable` has found. An answer that is not a `Response`
    is streamed.
    """
    if request.get(BEGUN) is answer:
        return
    request[BEGUN] = answer
    if not isinstance(answer, web.Response):
        complete_head(installation.settings, request, answer)
        connections.reset_when_closed(request, is_on=True)


def complete_head(settings: Settings, request: web.Request, answer: web.StreamResponse) -> None:
    """Add the common headers. Convert an error to problem details and compress the body, each only if the client
    accepts this form.
    """
    answer.headers["X-Request-Id"] = request[REQUEST_ID]
    answer.headers["Server"] = "wmsd"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers.setdefault("Cache-Control", "no-store")
    own = f"{answer.headers['Vary']}, " if "Vary" in answer.headers else ""
    answer.headers["Vary"] = VARY if is_of_the_api(request) else f"{own}Accept-Encoding"
    if is_of_the_api(request):
        translate(request, answer)
        if origins := settings.server.allow_origins:
            allow(origins, request, answer)
    compress(request, answer)
    if request.secure and settings.server.hsts:
        answer.headers["Strict-Transport-Security"] = HSTS
