"""Connections that wait for a next request: each for a moment, and only so many.

aiohttp keeps as many as there are hosts, and takes leave of each: under TLS it would wait half a minute for a
receiver that says nothing. So they are broken off here, just before aiohttp would close them.
"""

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wmsd.http_client.connector import Wire

KEEP_SECONDS: Final = 2.0
MOST_KEPT: Final = 128
"""A tenant may have as many hosts as it likes, and each connection is an open file."""


class Idle:
    def __init__(self) -> None:
        self._until: dict[Wire, float] = {}
        """By the loop's clock; the first to come is the first to go."""
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, wire: "Wire") -> bool:
        return wire in self._until

    def add(self, wire: "Wire") -> None:
        """Breaks it off where there are enough of them."""
        if len(self._until) >= MOST_KEPT:
            wire.break_off()
            return
        loop = asyncio.get_running_loop()
        self._until[wire] = until = loop.time() + KEEP_SECONDS
        if self._timer is None:
            self._timer = loop.call_at(until, self._look, loop)

    def remove(self, wire: "Wire") -> None:
        self._until.pop(wire, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Breaks off those whose time is over; while there are none there is no timer."""
        self._timer = None
        while self._until:
            first, until = next(iter(self._until.items()))
            if until > loop.time():
                self._timer = loop.call_at(until, self._look, loop)
                return
            del self._until[first]
            first.break_off()
