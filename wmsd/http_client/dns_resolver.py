"""DNS lookups on separate threads. Other work continues while a name server does not answer.

Each lookup has a separate daemon thread, because a process can exit while daemon threads are running. With the
threads of an executor, the process must wait until their lookups end.
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
"""The largest numbers of lookups that run at the same time. MOST is the limit for all lookups. MOST_OF_PARTY is
the limit for one party, such as a company. MOST_OF_ZONE is the limit for one party's lookups in one zone: the
names that end in the same two labels, such as example.com.

The zone limit counts each party separately, because many parties may need a zone such as co.uk.
"""

Lookup = Callable[[str], list[str]]


class LookupFailed(OSError):
    """The error for a lookup that failed because of this machine. The name may exist or not."""


def system_lookup(host: str) -> list[str]:
    """Return the addresses of the host. Raise gaierror or UnicodeError if the name cannot be resolved, and
    LookupFailed if this machine cannot do the lookup.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror:
        raise
    except OSError as error:  # the error number may be wrong, because libnss-mdns, for example, overwrites it
        raise LookupFailed(*error.args) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class DnsResolver:
    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._under_way: dict[str, tuple[int, asyncio.Future[list[str]]]] = {}
        """For each host that is being looked up, the party that started the lookup, and the future result."""
        self._freed = asyncio.Event()

    async def addresses(self, host: str, party: int = 0) -> list[str]:
        """Return the addresses of the host. Concurrent callers share one lookup; no result is cached. Raise
        OSError or UnicodeError.

        `party` is the user of the lookup, such as a company.
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
            future.exception()  # retrieved, so that asyncio does not log the error if no caller waits any more
        self._freed.set()
        self._freed = asyncio.Event()


def zone(host: str) -> str:
    return ".".join(host.rstrip(".").split(".")[-2:])


def on_thread(function: Callable[[], Result]) -> "asyncio.Future[Result]":
    """Return a future of the function's result. The function runs on a thread that may outlive the event loop."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    Thread(target=settle_future, args=(future, function), name="wmsd-lookup", daemon=True).start()
    return future
