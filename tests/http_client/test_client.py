"""Tests of the guarded client against real receivers: its results, its times, and what it does not do."""

import asyncio
import random
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.support.authority import HOST, Authority
from tests.support.receivers import ANY_PORT, MANNERS, Manner, Receiver, Receivers, answer, raw
from tests.support.scripted_names import ScriptedNames
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.connector import WANTED_BYTES
from wmsd.http_client.guard import Guard

UNREADABLE = "The file in {section}.ca_file cannot be read, or has no certificates in PEM format."
LISTED = Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT)
OF_SIGN_ON = Guard(["127.0.0.1/32"], allow_ports=ANY_PORT, section="sign_on")
DEADLINE = 0.3
"""The deadline of a client in tests about deadlines, in seconds. Other clients may take longer."""
HEADERS = {"User-Agent": "3PL-WMS-Webhook/1.0", "Content-Type": "application/json"}
BODY = b'{"event":"stock.updated"}'


@pytest.fixture
async def client(authority: Authority) -> AsyncIterator[GuardedClient]:
    scripted = ScriptedNames(receiver_test=[["127.0.0.1"]])
    async with aclosing(GuardedClient(LISTED, str(authority.ca_file), resolver=scripted.resolver)) as opened:
        yield opened


@pytest.fixture
async def hasty(authority: Authority) -> AsyncIterator[GuardedClient]:
    async with aclosing(GuardedClient(LISTED, str(authority.ca_file), DEADLINE)) as opened:
        yield opened


async def test_a_receiver_gets_what_was_given_and_nothing_else(client: GuardedClient) -> None:
    async with Receiver() as receiver:
        sent = await client.post(receiver.url("/%7Ea/../b?q=%2F&r=a%20b"), HEADERS | {"X-Api-Key": "k"}, BODY)
    assert (sent.status, sent.body, sent.is_cut, sent.error) == (200, b"ok", False, None)
    (received,) = receiver.received
    assert (received.method, received.path, received.body) == ("POST", "/%7Ea/../b?q=%2F&r=a%20b", BODY)
    assert received.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "user-agent": HEADERS["User-Agent"],
        "content-type": "application/json",
        "x-api-key": "k",
        "content-length": str(len(BODY)),
    }


async def test_a_header_that_is_given_is_sent_once(client: GuardedClient) -> None:
    async with Receiver() as receiver:
        await client.post(receiver.url("/200"), HEADERS | {"accept": "text/plain"}, BODY)
    assert receiver.received[0].headers["accept"] == "text/plain"


async def test_get(client: GuardedClient) -> None:
    async with Receiver([answer(body=b"{}", headers={"X-Seen": "yes"})]) as receiver:
        got = await client.get(receiver.url("/.well-known"), {"User-Agent": "wmsd"})
    assert (got.status, got.body, got.headers["x-seen"]) == (200, b"{}", "yes")
    assert (receiver.received[0].method, receiver.received[0].body) == ("GET", b"")


@pytest.mark.parametrize("kind", ["http", "good"])
@pytest.mark.parametrize(
    ("path", "status", "body", "is_cut"),
    [
        ("/200", 200, b"ok", False),
        ("/204", 204, b"", False),
        ("/204-body", 204, b"", False),
        ("/204-answer", 204, b"", False),
        ("/400", 400, b"no", False),
        ("/410", 410, b"gone", False),
        ("/500", 500, b"broken", False),
        ("/whole", 200, b"w" * WANTED_BYTES, False),
        ("/longer", 200, b"l" * WANTED_BYTES, True),
        ("/flood", 200, b"x" * WANTED_BYTES, True),
        ("/flood-500", 500, b"x" * WANTED_BYTES, True),
        ("/chunks", 200, b"ok", False),
        ("/until-close", 200, b"all there is", False),
        ("/bad-gzip", 200, b"not gzip", False),
        ("/endless-answers", 200, b"ok", False),
        ("/302?http://127.0.0.1/", 302, b"ok", False),
        ("/status-999", 999, b"", False),
        ("/long-header", 200, b"ok", False),
        ("/many-headers", 200, b"ok", False),
        ("/endless-headers", 200, b"", True),
        ("/endless-header", 200, b"", True),
        ("/endless-line", 200, b"", True),
    ],
)
async def test_answers(
    client: GuardedClient, receivers: Receivers, kind: str, path: str, status: int, body: bytes, is_cut: bool
) -> None:
    found = await client.post(receivers.url(path, kind), HEADERS, BODY)
    assert (found.status, found.body, found.is_cut, found.error) == (status, body, is_cut, None)
    assert found.is_success is (200 <= status < 300)
    assert found.duration > 0


async def test_what_follows_an_answer_without_a_body_is_never_the_next_answer(client: GuardedClient) -> None:
    """Bytes after an answer without a body are never the next answer: the connection is closed immediately."""
    async with Receiver([MANNERS["/204-answer"]]) as receiver:
        statuses = [(await client.post(receiver.url("/200"), HEADERS, BODY)).status for _ in range(2)]
        assert (statuses, receiver.connections) == ([204, 200], 2)


@pytest.mark.parametrize("kind", ["http", "good"])
async def test_framing_that_is_larger_than_what_it_frames(
    client: GuardedClient, receivers: Receivers, kind: str
) -> None:
    found = await client.post(receivers.url("/flood-chunks", kind), HEADERS, BODY)
    assert (found.status, found.is_cut, found.error) == (200, True, None)
    assert found.body.ljust(WANTED_BYTES, b"x") == b"x" * WANTED_BYTES


async def test_a_bomb_is_2_kb(client: GuardedClient, receivers: Receivers) -> None:
    found = await client.post(receivers.url("/bomb"), HEADERS, BODY)
    assert (found.status, found.body[:2], len(found.body), found.is_cut) == (200, b"\x1f\x8b", WANTED_BYTES, True)


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/reset", 200, "127.0.0.1 closed the connection in the middle of its answer."),
        ("/half", 200, "127.0.0.1 closed the connection in the middle of its answer."),
        ("/bad-chunk", None, "127.0.0.1 answered with something that is not HTTP."),
        ("/hang-up", None, "127.0.0.1 closed the connection without an answer."),
        ("/garbage", None, "127.0.0.1 answered with something that is not HTTP."),
        ("/ssh", None, "127.0.0.1 answered with something that is not HTTP."),
        ("/bad-length", None, "127.0.0.1 answered with something that is not HTTP."),
        ("/two-lengths", None, "127.0.0.1 answered with something that is not HTTP."),
        ("/endless-100", None, "127.0.0.1 sent more than 64 kB, but no complete answer."),
        ("/endless-103", None, "127.0.0.1 sent more than 64 kB, but no complete answer."),
    ],
)
async def test_failures(
    client: GuardedClient, receivers: Receivers, path: str, status: int | None, error: str
) -> None:
    found = await client.post(receivers.url(path), HEADERS, BODY)
    assert (found.status, found.error, found.is_success) == (status, error, False)


@pytest.mark.parametrize("path", ["/switch", "/latin"])
async def test_oddities_are_answers_of_some_kind(hasty: GuardedClient, receivers: Receivers, path: str) -> None:
    found = await hasty.post(receivers.url(path), HEADERS, BODY)
    assert "error in wmsd" not in (found.error or "")


@pytest.mark.parametrize("kind", ["http", "good"])
@pytest.mark.parametrize(
    ("path", "status", "what"),
    [("/hang", None, "an answer"), ("/drip-head", None, "an answer"), ("/drip", 200, "the rest of the answer")],
)
async def test_one_deadline_for_everything(
    hasty: GuardedClient, receivers: Receivers, kind: str, path: str, status: int | None, what: str
) -> None:
    await hasty.post(receivers.url("/200", kind), HEADERS, BODY)  # a handshake may take long on a busy machine
    found = await hasty.post(receivers.url(path, kind), HEADERS, BODY)
    late = "127.0.0.1 took too long: the attempt ended after 0.3 seconds, while waiting for"
    assert found.error == f"{late} {what}."
    assert (found.status, found.is_success) == (status, False)
    assert found.duration >= DEADLINE - 0.01


@pytest.mark.parametrize(("scheme", "what"), [("https", "the TLS handshake"), ("http", "an answer")])
async def test_nobody_speaks(hasty: GuardedClient, scheme: str, what: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = await hasty.post(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/", HEADERS, BODY)
    assert f", while waiting for {what}." in (found.error or "")


@pytest.mark.parametrize("scheme", ["https", "http"])
async def test_nobody_listens(client: GuardedClient, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    found = await client.post(f"{scheme}://127.0.0.1:{port}/", HEADERS, BODY)
    assert found.error == f"127.0.0.1 refused the connection at port {port}."


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("good", None),
        ("expired", "The certificate of receiver.test has expired."),
        ("elsewhere", "The certificate of receiver.test is for another host name."),
        (
            "stranger",
            "The certificate of receiver.test is from an authority that wmsd does not trust. A platform admin "
            "can add a private authority in webhooks.ca_file.",
        ),
        ("old", "receiver.test supports only TLS versions older than 1.2."),
        ("plain", "receiver.test does not use TLS at port {port}."),
        ("failing", "The TLS handshake with receiver.test failed."),
    ],
)
async def test_certificates(client: GuardedClient, receivers: Receivers, kind: str, error: str | None) -> None:
    before = len(receivers.recorded())
    found = await client.post(f"https://{HOST}:{receivers.ports[kind]}/200", HEADERS, BODY)
    assert found.error == (error and error.format(port=receivers.ports[kind]))
    assert len(receivers.recorded()) == before + found.is_success


async def test_an_address_is_looked_for_in_the_certificate_too(
    client: GuardedClient, receivers: Receivers
) -> None:
    found = await client.post(receivers.url("/200", "elsewhere"), HEADERS, BODY)
    assert found.error == "The certificate of 127.0.0.1 is for another address."


async def test_without_ca_file_the_private_authority_is_not_known(receivers: Receivers) -> None:
    async with aclosing(GuardedClient(LISTED, deadline=2)) as client:
        found = await client.post(receivers.url("/200", "good"), HEADERS, BODY)
    assert "webhooks.ca_file" in (found.error or "")


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_ca_file_that_cannot_be_read(receivers: Receivers, tmp_path: Path, content: str | None) -> None:
    ca_file = tmp_path / "secret-name.pem"
    if content is not None:
        ca_file.write_text(content)
    for guard in (LISTED, OF_SIGN_ON):
        async with aclosing(GuardedClient(guard, str(ca_file), deadline=2)) as client:
            found = await client.post(receivers.url("/200", "good"), HEADERS, BODY)
        assert found.error == UNREADABLE.format(section=guard.section)


async def test_connections_are_used_again(client: GuardedClient, authority: Authority) -> None:
    for tls in (None, authority.server_context()):
        async with Receiver(tls=tls) as receiver:
            for _ in range(5):
                assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
            assert receiver.connections == 1


async def test_a_connection_that_was_closed_meanwhile_is_dialled_afresh_once(client: GuardedClient) -> None:
    async with Receiver([answer(), raw(), answer()]) as receiver:
        assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
        assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
    assert [(received.connection, received.body) for received in receiver.received] == [
        (1, BODY),
        (1, BODY),
        (2, BODY),
    ]


@pytest.mark.parametrize(
    ("script", "connections"),
    [
        ([raw()], [1]),
        ([answer(), raw(), raw()], [1, 1, 2]),
        ([answer(), raw(b"HTTP/1.1 2")], [1, 1]),
        ([answer(), raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")], [1, 1]),
    ],
)
async def test_nothing_else_is_sent_twice(
    client: GuardedClient, script: list[Manner], connections: list[int]
) -> None:
    async with Receiver(list(script)) as receiver:
        while receiver.script:
            found = await client.post(receiver.url(), HEADERS, BODY)
        assert not found.is_success
    assert [received.connection for received in receiver.received] == connections


async def test_a_connection_is_handed_on_while_the_last_answer_is_still_read(client: GuardedClient) -> None:
    """A connection is reused while the last answer is still being read.

    The end of an answer may arrive in a separate packet, in the same turn of the loop in which another attempt
    starts.
    """

    async def in_two(writer: asyncio.StreamWriter, received: object) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
        await asyncio.sleep(0.001)
        writer.write(b"k")
        return True

    moments = random.Random(1)
    async with Receiver([in_two] * 1500) as receiver:
        asked = []
        for _ in range(1500):
            asked.append(asyncio.create_task(client.post(receiver.url(), HEADERS, BODY)))
            await asyncio.sleep(moments.random() * 0.003)
        found = await asyncio.gather(*asked)
    assert {(each.status, each.error) for each in found} == {(200, None)}


async def test_of_headers_that_differ_in_case_the_later_is_sent(client: GuardedClient) -> None:
    async with Receiver() as receiver:
        await client.post(receiver.url(), {"content-type": "text/plain", **HEADERS}, BODY)
    assert receiver.received[0].headers["content-type"] == HEADERS["Content-Type"]


async def test_what_was_said_unasked_answers_nothing(client: GuardedClient) -> None:
    unasked = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked"
    first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    async def say_more(writer: asyncio.StreamWriter, received: object) -> bool:
        writer.write(first)
        await asyncio.sleep(0.05)
        writer.write(unasked)
        return True

    async with Receiver([say_more, raw(first + unasked, closes=False)]) as receiver:
        for pause in (0.1, 0, 0):
            assert (await client.post(receiver.url(), HEADERS, BODY)).body == b"ok"
            await asyncio.sleep(pause)
        assert [received.connection for received in receiver.received] == [1, 2, 3]


async def test_an_idle_connection_cannot_be_flooded(client: GuardedClient) -> None:
    sent = 0

    async def flood(writer: asyncio.StreamWriter, received: object) -> bool:
        nonlocal sent
        part = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        writer.write(part)
        await asyncio.sleep(0.02)
        for _ in range(1000):
            writer.write(part * 1000)
            await writer.drain()
            sent += len(part) * 1000
        return False

    async with Receiver([flood]) as receiver:
        assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
        await asyncio.sleep(0.3)
    assert sent < 8_000_000


async def test_cookies_are_not_kept(client: GuardedClient) -> None:
    async with Receiver() as receiver:
        for _ in range(2):
            await client.post(receiver.url("/cookie"), HEADERS, BODY)
    assert all("cookie" not in received.headers for received in receiver.received)


async def test_proxies_and_netrc_of_the_environment_are_not_asked(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password secret\n")
    async with Receiver() as proxy, Receiver() as receiver, Receiver(tls=authority.server_context()) as secure:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
            monkeypatch.setenv(name.lower(), proxy.url(""))
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.delenv("NO_PROXY", raising=False)
        async with aclosing(GuardedClient(LISTED, str(authority.ca_file))) as client:
            for asked in (receiver, secure):
                assert (await client.post(asked.url(), HEADERS, BODY)).is_success
                assert "authorization" not in asked.received[0].headers
        assert proxy.connections == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "a"},
        {"content-LENGTH": "1"},
        {"Transfer-Encoding": "chunked"},
        {"X-A": "b\r\nHost: c"},
        {"X-A": "\0"},
    ],
)
async def test_headers_that_frame_are_a_mistake_of_the_caller(
    client: GuardedClient, headers: dict[str, str]
) -> None:
    async with Receiver() as receiver:
        with pytest.raises(ValueError, match="wmsd cannot send"):
            await client.post(receiver.url(), headers, BODY)
        assert receiver.connections == 0


def test_its_import_reads_no_certificates() -> None:
    program = """
import wmsd.http_client.client
from aiohttp import connector
print(connector._SSL_CONTEXT_VERIFIED.cert_store_stats()["x509"])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "0"


async def test_cancelling_cancels(client: GuardedClient, receivers: Receivers) -> None:
    task = asyncio.create_task(client.post(receivers.url("/hang"), HEADERS, BODY))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
