"""Pages of lists, kept until something is written to the company's file. Most who ask for a list again ask whether
anything has changed.
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
"""Of all companies together."""
OVERHEAD: Final = 1000
"""About how many bytes a page takes beside its body and its address."""
MOST_ASKED: Final = 256
"""So many addresses are remembered that were asked for last."""
Place = tuple[object, ...]
"""What an answer depends on, beside the content of the file."""


class _Kept(NamedTuple):
    state: int
    """Of the file, when the page was read."""
    body: bytes
    headers: dict[str, str]
    size: int


def place_of(call: Call, company_id: int) -> Place | None:
    """None for what is no list that a program asks for, or that is not of the company's file alone."""
    operation = call.operation
    if operation.answer not in ("page", "cursor") or operation.scope != "company" or operation.needs is not None:
        return None
    if not operation.takes.isdisjoint(CONTEXT) or not call.has_headers:
        return None
    if call.is_long or call.is_brief or call.wants_cursors or call.within is not None:
        return None
    return (company_id, operation.name, call.target, *call.query.items())


class KeptLists:
    """Those that were asked for again, the last of them. A page that is out of date stays until there is a new one
    or no room. One that nobody has asked for before is not kept: who reads page after page would pay a tenth more.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Place, _Kept] = OrderedDict()
        self._bytes = 0
        self._asked: OrderedDict[int, None] = OrderedDict()
        """The hashes of places. Where two have the same, a page is kept that need not be."""

    def find(self, place: Place, state: int | None) -> Reply | None:
        """The answer as it was, if the file is in the state in which it was read."""
        kept = self._kept.get(place)
        if kept is None or kept.state != state:
            return None
        self._kept.move_to_end(place)
        return Reply(200, kept.body, kept.headers)

    def keep(self, place: Place, state: int, reading: Awaitable[Reply]) -> None:
        """Keeps what is read, once it is, if it was asked for before and is a short list and no search. `state`:
        that of the file before.
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
