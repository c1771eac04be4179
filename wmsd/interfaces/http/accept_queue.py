"""The queue of accepted connections. Each iteration of the event loop opens a few of them.

A connection needs several iterations before its request is answered. If many connections are opened at the same
time, the iterations become slow for all clients. Therefore further connections wait in the queue, in the order of
their arrival. If an address has recently opened many connections, its connections wait longer. So a client with
few connections does not wait for a client with many.
"""

import asyncio
import socket
import ssl
from collections import Counter
from functools import partial
from heapq import nsmallest
from typing import Final, NamedTuple

from wmsd.interfaces.http.connections import HEAD_SECONDS, Connection
from wmsd.interfaces.http.plain_http import refuse_plain_http, speaks_tls

OPENED_AT_ONCE: Final = 4
LATELY_SECONDS: Final = 5.0
"""A connection counts as recently opened for at least this many seconds, and for at most twice this time."""
SECONDS_OF_ONE: Final = 0.02
"""The delay of a new connection, in seconds, for each connection that its address has recently opened."""
LONGEST_SECONDS: Final = 1.0
"""The maximum delay of a connection in seconds, so that no connection waits forever."""


class _Accepted(NamedTuple):
    socket: socket.socket
    place: float
    """The time, on the loop's clock, by which the queue is ordered. The connection with the earliest time is
    opened first.
    """


class Opening:
    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Connection, _Accepted] = {}
        self._is_scheduled = False
        self._lately, self._before = Counter[str](), Counter[str]()
        self._lately_until = 0.0

    def add(self, connection: Connection, accepted: socket.socket) -> None:
        """Add a connection to the queue. `Connections` has already counted the connection. `go_on` opens it later.

        If there are too many connections, `Connections` may close this connection before it is opened.
        """
        if connection.is_cut:
            accepted.close()
            return
        self._waiting[connection] = _Accepted(accepted, self._place_of(connection))
        connection.opening = partial(self._forget, connection)

    def go_on(self) -> None:
        """Open the next connections. If the next opening is already scheduled, do nothing. Raise MemoryError if
        memory is short.
        """
        if not self._is_scheduled:
            self._open_some()

    def close(self) -> None:
        """Open all waiting connections now: the system has accepted them, so their clients expect an answer."""
        while self._waiting:
            self._open_some()

    def _place_of(self, connection: Connection) -> float:
        now = self._loop.time()
        if now >= self._lately_until:
            self._before = Counter() if now >= self._lately_until + LATELY_SECONDS else self._lately
            self._lately, self._lately_until = Counter(), now + LATELY_SECONDS
        if connection.is_proxy:
            return now  # a proxy stands for many clients
        self._lately[connection.address] += 1
        opened_lately = self._lately[connection.address] + self._before[connection.address]
        return now + min(opened_lately * SECONDS_OF_ONE, LONGEST_SECONDS)

    def _forget(self, connection: Connection) -> None:
        self._waiting.pop(connection).socket.close()

    def _open_some(self) -> None:
        self._is_scheduled = False  # first, so that opening continues after any failure
        try:
            for each in nsmallest(OPENED_AT_ONCE, self._waiting, key=lambda each: self._waiting[each].place):
                self._begin(each)
        finally:
            if self._waiting:
                self._loop.call_soon(self._open_some)
                self._is_scheduled = True

    def _begin(self, connection: Connection) -> None:
        accepted, connection.opening = self._waiting.pop(connection).socket, None
        try:
            asyncio.ensure_future(_open(connection, accepted, self._tls))  # noqa: RUF006  (the loop refers to it from its first step on)
        except MemoryError:
            accepted.close()
            connection.gave_up()
            raise


async def _is_handshake(opened: socket.socket) -> bool:
    """Return True if the client starts a TLS handshake. If it sends plain HTTP, refuse the request and return
    False.

    Raise OSError if the client leaves, or sends nothing for too long. After an error, the socket is closed.
    """
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            if await speaks_tls(opened):
                return True
            await refuse_plain_http(opened)
    except BaseException:
        opened.close()
        raise
    return False


async def _open(connection: Connection, opened: socket.socket, tls: ssl.SSLContext | None) -> None:
    if connection.is_cut:
        opened.close()
        return
    task = asyncio.current_task()
    if (
        tls is not None and task is not None
    ):  # without TLS, opening takes one iteration, and uvloop would keep a cancelled task forever
        connection.opening = task.cancel
    loop = asyncio.get_running_loop()
    handshake_seconds = None if tls is None else HEAD_SECONDS
    try:
        if tls is not None and not await _is_handshake(opened):
            connection.gave_up()
            return
        await loop.connect_accepted_socket(
            lambda: connection, opened, ssl=tls, ssl_handshake_timeout=handshake_seconds
        )
    except (OSError, MemoryError, asyncio.CancelledError):  # the client left, took too long, or speaks no TLS
        connection.gave_up()
