"""Public pages of search results. One page is created at a time. Equal queries share a cached page."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from sys import getsizeof
from typing import Final

from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.limits.work_admission import WorkAdmission
from wmsd.dispatch.prepared_answers import Kept
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.rendering import HEADERS

MOST_KEPT: Final = 8_000_000
"""The maximum memory for cached pages, in bytes."""
MOST_COMPRESSED: Final = 0.5
"""An estimate of a compressed page's size, as a fraction of the page's size.

If a browser accepts compression, the compressed page is cached too.
"""
Make = Callable[[], str]


class SearchPages:
    def __init__(self, work: WorkAdmission) -> None:
        self._work = work
        self._kept: OrderedDict[tuple[str, ...], Kept] = OrderedDict()
        """The cached pages. The key contains everything on which a page depends. The most recently requested page
        is at the end.
        """
        self._size = 0
        self._making: dict[tuple[str, ...], asyncio.Task[Kept]] = {}

    async def answer(
        self, key: tuple[str, ...], address: str, prepare: Callable[[], Awaitable[Make]]
    ) -> web.Response:
        """Return the page with this key from the cache. If it is not there, create and cache it.

        `prepare` returns the function that creates the page. The cost is charged to the client `address`. Raise
        Problem (503) if too many pages wait for their creation.
        """
        page = await self._page(key, address, prepare)
        return web.Response(body=page, content_type="text/html", charset="utf-8", headers=HEADERS)

    async def _page(self, key: tuple[str, ...], address: str, prepare: Callable[[], Awaitable[Make]]) -> Kept:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.create_task(self._made(key, address, prepare))
            making.add_done_callback(partial(self._is_made, key))
        try:
            return await asyncio.shield(making)  # other requests may wait for the same page
        finally:
            del making  # its error refers to this frame until a garbage collection

    async def _made(self, key: tuple[str, ...], address: str, prepare: Callable[[], Awaitable[Make]]) -> Kept:
        async with self._work.turn("search", Payers(address=address)) as turn:
            make = await prepare()
            began = time.thread_time()  # no await from here on, so all of this time is for the page
            page = Kept(make().encode())
            turn.charge(time.thread_time() - began, len(page))
        self._keep(key, page)
        return page

    def _is_made(self, key: tuple[str, ...], making: "asyncio.Task[Kept]") -> None:
        del self._making[key]
        if not making.cancelled():
            making.exception()  # if no request waits any more, nobody else would read the error

    def _keep(self, key: tuple[str, ...], page: Kept) -> None:
        self._kept[key] = page
        self._size += _size(page)
        while self._size > MOST_KEPT:
            self._size -= _size(self._kept.popitem(last=False)[1])


def _size(page: Kept) -> int:
    return int(getsizeof(page) * (1 + MOST_COMPRESSED))
