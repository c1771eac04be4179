"""The cache of list pages. A page is valid until the company's file is written. Clients often request the same
list again to check for changes.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable
from functools import partial
from typing import Final, NamedTuple

from wmsd.contract.operation import CONTEXT
from wmsd.dispatch.call import Call, Reply
from wmsd.dispatch.replies import SHORT

MOST_BYTES: Final = 4 * 1024 * 1024
"""The maximum size of the cached pages of all companies together."""
OVERHEAD: Final = 1000
"""The approximate memory in bytes that a cached page takes in addition to its body and its address."""
MOST_ASKED: Final = 256
"""How many of the last requested addresses wmsd remembers."""
Place = tuple[object, ...]
"""The key of a cached page: the company's id, the operation, the path and the query."""


class _Kept(NamedTuple):
    state: int
    """The state of the file when the page was read."""
    body: bytes
    headers: dict[str, str]
    size: int


def place_of(call: Call, company_id: int) -> Place | None:
    """Return the cache key of the call, or None if its answer must not be cached.

    wmsd caches only lists that depend on nothing but the company's file and the address.
    """
    operation = call.operation
    if operation.answer not in ("page", "cursor") or operation.scope != "company" or operation.needs is not None:
        return None
    if not operation.takes.isdisjoint(CONTEXT) or not call.has_headers:
        return None
    if call.is_long or call.is_brief or call.wants_cursors or call.within is not None:
        return None
    return (company_id, operation.name, call.target, *call.query.items())


class KeptLists:
    """The most recently used pages of lists. A page is cached when it is requested for the second time.

    An outdated page stays until a newer one replaces it or the cache is full. Some clients read each page only
    once. Caching their pages would make these requests slower by a tenth.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Place, _Kept] = OrderedDict()
        self._bytes = 0
        self._asked: OrderedDict[int, None] = OrderedDict()
        """The last requested cache keys, as hashes. If two keys have the same hash, wmsd caches a page too early,
        which does no harm.
        """

    def find(self, place: Place, state: int | None) -> Reply | None:
        """Return the cached answer. Return None if there is no answer in the cache, or if it is outdated. `state`
        is the present state of the file.
        """
        kept = self._kept.get(place)
        if kept is None or kept.state != state:
            return None
        self._kept.move_to_end(place)
        return Reply(200, kept.body, kept.headers)

    def keep(self, place: Place, state: int, reading: Awaitable[Reply]) -> None:
        """Cache the answer that `reading` will return, if the list was requested before and the answer is short.
        `state` is the state of the file before the read.
        """
        if self._is_asked_again(place) and isinstance(reading, asyncio.Future):
            reading.add_done_callback(partial(self._keep, place, state))

    def _is_asked_again(self, place: Place) -> bool:
        asked, name = self._asked, hash(place)
        is_known = name in asked
        asked[name] = None
        asked.move_to_end(name)
        if len(asked) > MOST_ASKED:
            asked.popitem(last=False)
        return is_known

    def _keep(self, place: Place, state: int, reading: "asyncio.Future[Reply]") -> None:
        if reading.cancelled() or reading.exception() is not None:
            return
        reply = reading.result()
        if reply.status == 200 and reply.pieces is None and len(reply.body) <= SHORT:
            size = len(reply.body) + sum(len(part) for part in place if isinstance(part, str)) + OVERHEAD
            self._forget(place)
            self._kept[place] = _Kept(state, reply.body, reply.headers, size)
            self._bytes += size
            while self._bytes > self._most_bytes:
                self._forget(next(iter(self._kept)))

    def _forget(self, place: Place) -> None:
        kept = self._kept.pop(place, None)
        if kept is not None:
            self._bytes -= kept.size
