"""Names are looked up beside the loop, so that a name server that hangs holds up nobody else.

Each lookup has a thread of its own that the process does not wait for at its end, as it would for an executor's.
"""

import asyncio
import socket
from collections.abc import Callable
from threading import Thread
from typing import Final, TypeVar

from wmsd.base.machine.thread_results import settle_future

Result = TypeVar("Result")
MOST: Final = 64
MOST_OF_PARTY: Final = 16
MOST_OF_ZONE: Final = 8
"""Lookups under way at once: of all names, of one party's, and of its names that end in the same two labels.

No other party's names in that zone wait for them, for it may be as wide as co.uk.
"""

Lookup = Callable[[str], list[str]]


class LookupFailed(OSError):
    """This machine could not look a name up: that says nothing of the name."""


def system_lookup(host: str) -> list[str]:
    """Raises gaierror, UnicodeError, and LookupFailed when this machine lacks something."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror:
        raise
    except OSError as error:  # the number need not be the cause's: libnss-mdns, for one, overwrites it
        raise LookupFailed(*error.args) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class DnsResolver:
    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._under_way: dict[str, tuple[int, asyncio.Future[list[str]]]] = {}
        """By host: the party that began it, and what comes of it."""
        self._freed = asyncio.Event()

    async def addresses(self, host: str, party: int = 0) -> list[str]:
        """Asked for once, however many wait for it; nothing is kept. Raises OSError or UnicodeError.

        `party`: whoever wants it, such as a company.
        """
        while host not in self._under_way and self._is_full(party, zone(host)):
            await self._freed.wait()
        if host not in self._under_way:
            self._begin(host, party)
        return await asyncio.shield(self._under_way[host][1])

    def _is_full(self, party: int, of_zone: str) -> bool:
        of_party = [host for host, (begun_by, _) in self._under_way.items() if begun_by == party]
        return (
            len(self._under_way) >= MOST
            or len(of_party) >= MOST_OF_PARTY
            or sum(zone(host) == of_zone for host in of_party) >= MOST_OF_ZONE
        )

    def _begin(self, host: str, party: int) -> None:
        future = on_thread(lambda: self._lookup(host))
        future.add_done_callback(lambda _: self._end(host))
        self._under_way[host] = party, future

    def _end(self, host: str) -> None:
        _, future = self._under_way.pop(host)
        if not future.cancelled():
            future.exception()  # seen, even if everybody who waited has gone
        self._freed.set()
        self._freed = asyncio.Event()


def zone(host: str) -> str:
    return ".".join(host.rstrip(".").split(".")[-2:])


def on_thread(function: Callable[[], Result]) -> "asyncio.Future[Result]":
    """The function's result, from a thread that may outlive the loop."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    Thread(target=settle_future, args=(future, function), name="wmsd-lookup", daemon=True).start()
    return future
