"""Pages that are the same for everybody. Each page is created once, on a thread, and sent with an ETag."""

from collections.abc import Callable
from typing import Final

from wmsd.dispatch.prepared_answers import Prepared
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import response, unless_known
from wmsd.interfaces.pages.kit.rendering import HEADERS

HTML: Final = "text/html; charset=utf-8"


class PreparedPages:
    """A cache of pages. Pages are never removed, so the caller must limit the number of keys."""

    def __init__(self) -> None:
        self._prepared: dict[tuple[object, ...], Prepared] = {}

    async def answer(self, request: web.Request, key: tuple[object, ...], make: Callable[[], str]) -> web.Response:
        """Return the page with this key. The first request creates the page with `make`."""
        if key not in self._prepared:
            self._prepared[key] = Prepared(lambda: make().encode(), HTML)
        reply = await self._prepared[key].reply()
        reply.headers = {**HEADERS, **reply.headers}
        return response(unless_known(request, reply))
