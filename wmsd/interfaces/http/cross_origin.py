"""CORS: lets pages of other origins call the API, if the installation allows their origins (Fetch standard).

Such a page sends a token with its calls. A browser adds cookies and similar credentials automatically, so wmsd
does not accept them from such a page.
"""

from collections.abc import Sequence
from typing import Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.route_table import Handler
from wmsd.interfaces.openapi.headers import ANSWERED, COST, SENT

ANY: Final = "*"
ALLOWED: Final = ", ".join(["Authorization", "Content-Type", *SENT, ANY])
"""The headers that a page of another origin may send. `*` allows every header, such as headers that libraries add.

The API ignores headers that it does not know.
"""
EXPOSED: Final = ", ".join([*ANSWERED, COST])
REMEMBERED_SECONDS: Final = 600


def allow(origins: Sequence[str], request: web.Request, answer: web.StreamResponse) -> None:
    """Add the headers that allow a page to read the answer, if `origins` allow the page's origin."""
    answer.headers["Vary"] = f"{answer.headers['Vary']}, Origin" if "Vary" in answer.headers else "Origin"
    if (allowed := _allowed(origins, request)) is not None:
        answer.headers["Access-Control-Allow-Origin"] = allowed
        answer.headers["Access-Control-Expose-Headers"] = EXPOSED


def options(origins: Sequence[str], request: web.Request, methods: Sequence[str]) -> web.Response:
    """Return the answer to OPTIONS. The header `Allow` has the methods that the address accepts.

    If the request is a preflight, the answer also has the methods and headers that the page may send.
    """
    answer = web.Response(status=204, headers={"Allow": ", ".join(methods)})
    if _is_preflight(origins, request):
        answer.headers["Access-Control-Allow-Methods"] = ", ".join(methods)
        answer.headers["Access-Control-Allow-Headers"] = ALLOWED
        answer.headers["Access-Control-Max-Age"] = str(REMEMBERED_SECONDS)
    return answer


async def answer_preflight(
    origins: Sequence[str], methods: Sequence[str], otherwise: Handler, request: web.Request
) -> web.StreamResponse:
    """Answer a preflight. Pass every other request to `otherwise`, which counts and answers the request.

    A preflight is not counted towards the rate limit. The request that the page sends after the preflight is
    counted.
    """
    return options(origins, request, methods) if _is_preflight(origins, request) else await otherwise(request)


def _is_preflight(origins: Sequence[str], request: web.Request) -> bool:
    """Return True if a browser asks what a page of an allowed origin may send."""
    asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return asks and _allowed(origins, request) is not None


def _allowed(origins: Sequence[str], request: web.Request) -> str | None:
    """Return the value of Access-Control-Allow-Origin: `*` or the page's origin. Return None if the origin is not
    allowed, or if the request has no Origin header.
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return None
    return ANY if ANY in origins else origin if origin in origins else None
