"""Lets pages of other origins call the API (the Fetch standard's CORS protocol), where the installation allows it.

They authenticate by a token. Credentials that a browser adds by itself, such as cookies, are never admitted.
"""

from collections.abc import Sequence
from typing import Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.route_table import Handler
from wmsd.interfaces.openapi.headers import ANSWERED, COST, SENT

ANY: Final = "*"
ALLOWED: Final = ", ".join(["Authorization", "Content-Type", *SENT, ANY])
"""Browsers take `*` for any other header, such as those that libraries add. The API ignores them."""
EXPOSED: Final = ", ".join([*ANSWERED, COST])
REMEMBERED_SECONDS: Final = 600


def allow(origins: Sequence[str], request: web.Request, answer: web.StreamResponse) -> None:
    """Says in the answer that the page may read it."""
    answer.headers["Vary"] = f"{answer.headers['Vary']}, Origin" if "Vary" in answer.headers else "Origin"
    if (allowed := _allowed(origins, request)) is not None:
        answer.headers["Access-Control-Allow-Origin"] = allowed
        answer.headers["Access-Control-Expose-Headers"] = EXPOSED


def options(origins: Sequence[str], request: web.Request, methods: Sequence[str]) -> web.Response:
    """Answers OPTIONS: what can be done at this address, and by a page of this origin."""
    answer = web.Response(status=204, headers={"Allow": ", ".join(methods)})
    if _is_preflight(origins, request):
        answer.headers["Access-Control-Allow-Methods"] = ", ".join(methods)
        answer.headers["Access-Control-Allow-Headers"] = ALLOWED
        answer.headers["Access-Control-Max-Age"] = str(REMEMBERED_SECONDS)
    return answer


async def answer_preflight(
    origins: Sequence[str], methods: Sequence[str], otherwise: Handler, request: web.Request
) -> web.StreamResponse:
    """Answers a preflight, and `otherwise` all else, which it counts. A page sends a preflight before each of its
    requests, and those are counted.
    """
    return options(origins, request, methods) if _is_preflight(origins, request) else await otherwise(request)


def _is_preflight(origins: Sequence[str], request: web.Request) -> bool:
    """Whether a browser asks what a page of an allowed origin may send."""
    asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return asks and _allowed(origins, request) is not None


def _allowed(origins: Sequence[str], request: web.Request) -> str | None:
    """The origin of the page, as it is allowed; None for others and for what is no page."""
    origin = request.headers.get("Origin")
    if origin is None:
        return None
    return ANY if ANY in origins else origin if origin in origins else None
