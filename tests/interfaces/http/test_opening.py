"""Connections are accepted immediately and opened in order, a few per turn; a failure costs only one of them."""

import asyncio
import errno
import gc
import logging
import socket
import time
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvloop

from tests.support.connecting import answers, close_all, opened, serving
from wmsd.base.client_addresses import networks
from wmsd.host.listen_sockets import listeners
from wmsd.interfaces.http import accept_queue, listener
from wmsd.interfaces.http.accept_queue import OPENED_AT_ONCE
from wmsd.interfaces.http.connections import Bounds, Connection, Connections
from wmsd.interfaces.http.listener import Accepting

CROWD = 5 * OPENED_AT_ONCE


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    await close_all()


class Desk:
    """A listener that accepts connections, and notes the addresses of the opened connections in order."""

    def __init__(self, bounds: Bounds | None = None, proxies: list[str] | None = None) -> None:
        self.come = Connections(bounds or Bounds(), networks(proxies or []))
        self.opened: list[str] = []
        (self.listener,) = listeners("127.0.0.1", 0)
        self.clients: list[socket.socket] = []

    def client(self, address: str) -> socket.socket:
        made = socket.create_connection(self.listener.getsockname(), source_address=(address, 0))
        self.clients.append(made)
        return made

    def accepting(self) -> Accepting:
        note = self.opened.append

        class Noted(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                note(transport.get_extra_info("peername")[0])

        return Accepting(self.listener, lambda: self.come.protocol(Noted), tls=None)

    def close(self) -> None:
        for each in self.clients:
            each.close()
        self.come.close()


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    made.close()


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_all_who_came_while_the_loop_was_busy_are_accepted_in_one_turn(desk: Desk) -> None:
    """The system keeps a limited number and drops all others; their clients try again only after a second."""
    for _ in range(CROWD):
        desk.client("127.0.0.1")
    with desk.accepting():
        await turns(3)
        assert len(desk.come) == CROWD


async def test_a_crowd_is_opened_a_few_in_a_turn_and_in_the_end_whole(desk: Desk) -> None:
    for _ in range(CROWD):
        desk.client("127.0.0.1")
    with desk.accepting():
        before = 0
        while len(desk.opened) < CROWD:
            await turns(1)
            assert len(desk.opened) - before <= OPENED_AT_ONCE
            before = len(desk.opened)


async def test_whoever_comes_now_and_then_does_not_wait_for_those_who_come_often(desk: Desk) -> None:
    for number in range(CROWD):
        desk.client(f"127.0.1.{number % 8 + 1}")
    with desk.accepting():
        while len(desk.opened) < CROWD:
            await turns(1)
        for number in range(CROWD):
            desk.client(f"127.0.1.{number % 8 + 1}")
        desk.client("127.0.0.2")
        while len(desk.opened) < 2 * CROWD + 1:
            await turns(1)
    assert desk.opened.index("127.0.0.2") == CROWD


async def test_nobody_waits_for_ever(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accept_queue, "LONGEST_SECONDS", 0.001)
    for _ in range(CROWD):
        desk.client("127.0.1.1")
    with desk.accepting():
        await turns(2)
        time.sleep(0.01)  # noqa: ASYNC251 -- it blocks the loop, so nothing is opened meanwhile
        assert len(desk.opened) < CROWD
        desk.client("127.0.0.2")
        while len(desk.opened) < CROWD + 1:
            await turns(1)
    assert desk.opened[-1] == "127.0.0.2"


async def test_behind_a_proxy_nobody_counts_for_others() -> None:
    desk = Desk(proxies=["127.0.0.9/32"])
    for address in ("127.0.0.9", "127.0.0.1"):
        for _ in range(CROWD):
            desk.client(address)
    with desk.accepting():
        while len(desk.opened) < 2 * CROWD:
            await turns(1)
    assert desk.opened[:CROWD] == ["127.0.0.9"] * CROWD
    desk.close()


async def test_what_waits_is_closed_as_soon_as_it_gives_way() -> None:
    """No file descriptor stays open above the limit."""
    desk = Desk(Bounds(connections=OPENED_AT_ONCE))
    for _ in range(CROWD):
        desk.client("127.0.0.1").settimeout(0.0)
    with desk.accepting():
        await turns(2)
        closed = 0
        for each in desk.clients:
            try:
                closed += each.recv(1) == b""
            except BlockingIOError:
                continue
        assert closed == CROWD - OPENED_AT_ONCE
    desk.close()


async def test_what_is_cut_while_it_waits_leaves_nothing_to_collect() -> None:
    """Most connections are cut during an attack, and every caller waits during a garbage collection."""
    come, kept = Connections(Bounds()), accept_queue.Opening(tls=None)
    connection = come.protocol(asyncio.Protocol)
    connection.count(("127.0.0.1", 1))
    kept.add(connection, socket.socket())
    come.remove(connection)
    connection.cut()
    come.close()
    left = weakref.ref(connection)
    gc.disable()
    try:
        del connection
        assert left() is None
    finally:
        gc.enable()


async def test_what_was_accepted_before_the_stop_is_opened(desk: Desk) -> None:
    for _ in range(CROWD):
        desk.client("127.0.0.1")
    with desk.accepting():
        await turns(2)
    await turns(5)
    assert len(desk.opened) == CROWD


def test_what_is_cut_while_it_is_opened_leaves_nothing_behind() -> None:
    """On the service's loop, uvloop would keep a connection for ever that is cancelled during its opening."""

    async def open_too_many() -> int:
        async with serving(Bounds(connections=20)) as port:
            for _ in range(3):
                kept = await asyncio.gather(*(opened(port) for _ in range(100)))
                await asyncio.sleep(0.2)
                for _, writer in kept:
                    writer.transport.abort()
                await close_all()
                await asyncio.sleep(0.2)
            del kept
            gc.collect()
            return sum(isinstance(each, Connection) for each in gc.get_objects())

    assert uvloop.run(open_too_many()) == 0


class OneFails:
    """A replacement of a function whose first call fails, because the machine has run out of a resource."""

    def __init__(self, function: Callable[..., Any], error: Exception) -> None:
        self._function = function
        self._error: Exception | None = error

    def __call__(self, *arguments: Any) -> Any:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._function(*arguments)


@pytest.mark.parametrize(
    ("broken", "name", "error"),
    [
        pytest.param(Connections, "add", MemoryError(), id="memory for a connection"),
        pytest.param(asyncio, "ensure_future", MemoryError(), id="memory for its task"),
        pytest.param(listener, "_accepted", OSError(errno.ENOMEM, "no memory"), id="memory of the system"),
        pytest.param(listener, "_accepted", OSError(errno.EMFILE, "no files"), id="files"),
    ],
)
async def test_a_shortage_while_accepting_costs_one_connection_at_most(
    broken: Any,
    name: str,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "wmsd.serve")
    async with serving(Bounds()) as port:
        fails = OneFails(getattr(broken, name), error)
        monkeypatch.setattr(broken, name, lambda *arguments: fails(*arguments))
        await opened(port)
        await asyncio.sleep(0.2)
        for _ in range(3):
            assert await answers(await opened(port))
    assert caplog.messages[-1] == "resolved after 1 failure: connections cannot be accepted"
