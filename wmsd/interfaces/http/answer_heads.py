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
"""The value of the header Strict-Transport-Security (RFC 6797): one year in seconds.

Browsers have built-in lists of HTTPS hosts. They add a host only if its value is at least a year.
"""
BEGUN: Final = web.RequestKey("begun", web.StreamResponse)
"""The key under which a request stores its answer. The answer is stored just before its head is sent."""


async def note_begun(installation: Installation, request: web.Request, answer: web.StreamResponse) -> None:
    """Store the answer on its request. If the answer is streamed, complete its head.

    aiohttp calls this function just before it sends the head, but not for routes of `RouteTable`. An answer is
    streamed if it is not a `Response`.
    """
    if request.get(BEGUN) is answer:
        return
    request[BEGUN] = answer
    if not isinstance(answer, web.Response):
        complete_head(installation.settings, request, answer)
        connections.reset_when_closed(request, is_on=True)


def complete_head(settings: Settings, request: web.Request, answer: web.StreamResponse) -> None:
    """Add the headers that every answer has.

    If the client accepts problem details, convert an error to them. If the client accepts gzip, compress the body.
    """
    headers = answer.headers
    headers["X-Request-Id"] = request[REQUEST_ID]
    headers["Server"] = "wmsd"
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Cache-Control", "no-store")
    if is_of_the_api(request):
        headers["Vary"] = VARY
        translate(request, answer)
        if origins := settings.server.allow_origins:
            allow(origins, request, answer)
    else:
        headers["Vary"] = f"{headers['Vary']}, Accept-Encoding" if "Vary" in headers else "Accept-Encoding"
    compress(request, answer)
    if request.secure and settings.server.hsts:
        headers["Strict-Transport-Security"] = HSTS
