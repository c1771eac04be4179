"""Clients that keep the service waiting: each has a time limit, and the number of connections is limited."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import web

from tests.support.connecting import HELLO, SOON, Handler, Opened, answers, close_all, is_closed, opened, serving
from tests.support.raw_http import Caller
from tests.support.world import World
from wmsd.base.client_addresses import counted_as, is_in, networks, without_port
from wmsd.base.problems import Problem
from wmsd.interfaces.http import accept_queue, connections, requests
from wmsd.interfaces.http.connections import Bounds
from wmsd.interfaces.http.listener import FILES_BESIDE, bounded_by_files

CERTIFICATE = Path(__file__).parents[2] / "support" / "loopback.pem"
MEGABYTE = 1024 * 1024


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    await close_all()


async def test_half_a_head_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    async with serving(Bounds()) as port:
        silent, half, slow = [await opened(port) for _ in range(3)]
        half[1].write(HELLO[:-2])
        assert await answers(slow)
        slow[1].write(HELLO[:5])
        said = await asyncio.wait_for(half[0].read(), SOON)
        assert said.startswith(b"HTTP/1.1 408 ")
        assert await is_closed(silent)
        assert await is_closed(slow)


async def test_a_handshake_has_its_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accept_queue, "HEAD_SECONDS", 0.3)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    async with serving(Bounds(), tls=tls) as port:
        silent, half, plain = [await opened(port) for _ in range(3)]
        half[1].write(b"\x16\x03")
        plain[1].write(b"GET /")
        for each in (silent, half, plain):
            assert await is_closed(each)


async def test_a_connection_that_is_kept_is_not_half_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    async with serving(Bounds()) as port:
        kept = await opened(port)
        assert await answers(kept)
        await asyncio.sleep(1.3)
        assert await answers(kept)


async def test_half_a_body_has_its_time_and_its_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.2)
    request = world.caller.post("/api/articles", {"code": "A", "name": "A"})
    connection = await world.caller.connect()
    await connection.send(request.head + request.body[:5])
    assert await connection.begin_to_read() == 408
    await connection.close()
    await world.call("GET", "/api/articles")


async def test_a_body_that_comes_steadily_may_take_longer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.4)
    monkeypatch.setattr(requests, "LEAST_BYTES_A_SECOND", 1)
    request = world.caller.post("/api/articles", {"code": "A", "name": "A"})
    connection = await world.caller.connect()
    await connection.send(request.head)
    for place in range(len(request.body)):
        await connection.send(request.body[place : place + 1])
        await asyncio.sleep(0.03)
    assert await connection.begin_to_read() == 201
    await connection.close()


async def test_of_one_address_the_one_that_waits_the_longest_is_closed() -> None:
    async with serving(Bounds(connections_of_an_address=3)) as port:
        kept = [await opened(port) for _ in range(3)]
        for each in kept:
            assert await answers(each)
        assert await answers(kept[0])  # the first connection was used most recently
        newest = await opened(port)
        assert await answers(newest)
        assert await is_closed(kept[1])
        assert await answers(kept[0])
        assert await answers(kept[2])


async def test_other_addresses_are_not_touched() -> None:
    async with serving(Bounds(connections_of_an_address=2)) as port:
        other = await opened(port, "127.0.0.9")
        assert await answers(other)
        for _ in range(5):
            assert await answers(await opened(port))
        assert await answers(other)


async def test_a_proxy_stands_for_many() -> None:
    async with serving(Bounds(connections_of_an_address=2), proxies=["127.0.0.1"]) as port:
        kept = [await opened(port) for _ in range(4)]
        assert [await answers(each) for each in kept] == [True] * 4


async def test_a_proxy_by_version_6_stands_for_many_too() -> None:
    bounds = Bounds(connections_of_an_address=1)
    kept = connections.Connections(bounds, networks(["2001:db8::/32"]))
    assert is_in("2001:db8::1", kept.proxies)
    kept.close()


async def test_what_is_cut_with_an_answer_unread_does_not_linger() -> None:
    """A client reads nothing and sends half a head: its socket is closed, and is no longer counted."""
    async with serving(Bounds(connections_of_an_address=1)) as port:
        reader, writer = await opened(port)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a read transport has it
        for _ in range(3000):
            writer.write(b"GET /?size=300 HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(0.5)
        writer.write(b"G")
        await asyncio.sleep(0.2)
        assert await answers(await opened(port))
        writer.transport.resume_reading()  # type: ignore[attr-defined]  # a read transport has it
        assert await is_closed((reader, writer))


async def test_in_all_the_address_that_has_the_most_gives_way() -> None:
    async with serving(Bounds(connections=6)) as port:
        honest = await opened(port, "127.0.0.2")
        assert await answers(honest)
        hoard = [await opened(port, "127.0.0.3") for _ in range(5)]
        for each in hoard:
            each[1].write(HELLO[:-2])
        late = await opened(port, "127.0.0.4")
        assert await answers(late)
        assert await is_closed(hoard[0])
        assert await answers(honest)


def working_until(gate: asyncio.Event) -> Handler:
    """Return a handler that works at each request until the gate is open."""

    async def work(request: web.Request) -> web.Response:
        connection = connections.of(request)
        assert connection is not None
        connection.begin()
        await gate.wait()
        connection.end()
        return web.Response()

    return work


async def test_what_is_worked_on_is_never_closed_for_others() -> None:
    gate = asyncio.Event()
    async with serving(Bounds(connections=2), working_until(gate)) as port:
        busy = [await opened(port) for _ in range(2)]
        for _, writer in busy:
            writer.write(HELLO)
        await asyncio.sleep(0.2)
        assert await is_closed(await opened(port))
        gate.set()
        for reader, _ in busy:
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")


async def test_who_has_the_most_at_work_does_not_make_a_newcomer_give_way() -> None:
    gate = asyncio.Event()
    async with serving(Bounds(connections=4), working_until(gate)) as port:
        for _ in range(3):
            (await opened(port, "127.0.0.3"))[1].write(HELLO)
        await asyncio.sleep(0.2)
        silent = await opened(port, "127.0.0.4")
        await asyncio.sleep(0.2)
        newcomer = await opened(port, "127.0.0.2")
        assert await is_closed(silent)
        gate.set()
        assert await answers(newcomer)


async def ask_and_not_read(port: int, size: int, company: str) -> Opened:
    connection = await opened(port)
    connection[1].write(f"GET /?size={size} HTTP/1.1\r\nHost: x\r\nX-Company: {company}\r\n\r\n".encode())
    return connection


async def is_whole(connection: Opened, size: int) -> bool:
    with suppress(OSError, EOFError):
        async with asyncio.timeout(SOON):
            await connection[0].readuntil(b"\r\n\r\n")
            return len(await connection[0].readexactly(size)) == size
    return False


async def test_what_a_company_does_not_read_has_its_bound() -> None:
    size = 16 * MEGABYTE
    async with serving(Bounds(unread_bytes_of_a_company=20 * MEGABYTE)) as port:
        other = await ask_and_not_read(port, size, "2")
        first = await ask_and_not_read(port, size, "1")
        await asyncio.sleep(0.3)
        second = await ask_and_not_read(port, size, "1")
        await asyncio.sleep(0.3)
        assert not await is_whole(first, size)
        assert await is_whole(second, size)
        assert await is_whole(other, size)


async def test_what_nobody_reads_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_SECONDS", 0.2)
    monkeypatch.setattr(connections, "LEAST_BYTES_A_SECOND", 10**9)
    async with serving(Bounds()) as port:
        unread = await ask_and_not_read(port, 16 * MEGABYTE, "1")
        await asyncio.sleep(2.5)
        assert not await is_whole(unread, 16 * MEGABYTE)


async def test_a_stop_answers_what_is_on_its_way() -> None:
    async def take(request: web.Request) -> web.Response:
        connection = connections.of(request)
        assert connection is not None
        connection.begin()
        try:
            await requests.body(request, 1000)
        except Problem as problem:
            return web.Response(status=problem.status)
        return web.Response()

    started = asyncio.get_running_loop().time()
    async with serving(Bounds(), take) as port:
        reader, writer = await opened(port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        await asyncio.sleep(0.2)
    assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
    assert asyncio.get_running_loop().time() - started < requests.BODY_SECONDS


@pytest.mark.parametrize(("files", "most"), [(1024, 384), (256, 76), (64, 16), (1_000_000, 4096)])
def test_companies_files_are_left_their_share(files: int, most: int) -> None:
    bounds = bounded_by_files(Bounds(), files)
    assert bounds.connections == most
    assert bounds.connections_of_an_address == min(512, most)
    assert most < files - FILES_BESIDE or files <= 64


@pytest.mark.parametrize(
    ("sent", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("192.0.2.1:x", "192.0.2.1:x"),
    ],
)
def test_the_port_of_a_forwarded_address_does_not_count(sent: str, address: str) -> None:
    assert without_port(sent) == address


def test_an_address_of_version_6_counts_with_its_network() -> None:
    assert counted_as("2001:db8:1:2:3::4") == counted_as("2001:db8:1:2::") == "2001:db8:1:2::/64"
    assert counted_as("::ffff:192.0.2.1") == "192.0.2.1"


async def test_the_callers_of_the_tests_go_through_it(world: World) -> None:
    """The results of these tests hold for the real service."""
    caller: Caller = world.caller
    connection = await caller.connect()
    await connection.send(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert await connection.begin_to_read() == 200
    await connection.close()
