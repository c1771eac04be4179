"""Tests of hostile URLs and headers: none reaches the canary, a loopback server that anything else on this machine
can reach.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from tests.events.webhooks.hostile_urls import NAMES, hostile_urls
from tests.support.receivers import ANY_PORT, Receiver, answer
from tests.support.scripted_names import ScriptedNames
from wmsd.http_client import client as client_module
from wmsd.http_client.answer import Answer
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.failures import NOWHERE
from wmsd.http_client.guard import Guard
from wmsd.http_client.urls import header_errors, parse_url

AT_ONCE = 16
WIDE = ["127.0.0.0/8", "::/127", "169.254.0.0/16", "0.0.0.0/8"]
GUARDS = {
    "strict": Guard(),
    "http allowed": Guard(allow_http=True),
    "wide networks listed": Guard(WIDE, allow_http=True, allow_ports=ANY_PORT),
}


class Canary(Receiver):
    """A server that counts the connections on 127.0.0.1 and, if there is one, on ::1 at the same port."""

    async def listen(self) -> int:
        port = await super().listen()
        if socket.has_dualstack_ipv6():
            await self.listen_at("::1", port)
        return port


class Blind(Guard):
    def objection(self, address: str, scheme: str, port: int = 0) -> str | None:
        return None


@pytest.fixture
async def canary() -> AsyncIterator[Canary]:
    async with Canary() as opened:
        yield opened


def names() -> ScriptedNames:
    scripted = ScriptedNames(rebinding_test=[["8.8.8.8", "127.0.0.1"], ["127.0.0.1"]])
    for name, answers in NAMES.items():
        scripted.say(name, answers)
    return scripted


def only_unreadable(url: str, guard: Guard) -> list[str]:
    """Return the errors of a URL that a client without rules would not send to either."""
    try:
        assert parse_url(url).raw_host is not None
    except (ValueError, AssertionError):
        return ["not a URL"]
    return ["two lines"] if url != "".join(url.split()) else []


async def all_of(client: GuardedClient, urls: Sequence[str]) -> list[Answer]:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(url: str) -> Answer:
        async with slots:
            return await client.post(url, {}, b"{}")

    return await asyncio.gather(*map(one, urls))


@pytest.mark.parametrize("guard", GUARDS)
async def test_no_hostile_url_reaches_the_canary(canary: Canary, guard: str) -> None:
    urls = hostile_urls(canary.port)
    assert len(urls) >= 300
    async with aclosing(GuardedClient(GUARDS[guard], deadline=1, resolver=names().resolver)) as client:
        for url, found in zip(urls, await all_of(client, urls), strict=True):
            assert (found.status, found.is_success) == (None, False), url
            assert found.error, url
            assert "error in wmsd" not in found.error, url
            assert not any(word in found.error for word in ("reached", "kept waiting", "TLS")), (url, found.error)
    assert canary.connections == 0


async def test_the_canary_can_be_reached(canary: Canary) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", canary.port)
    writer.close()
    async with aclosing(GuardedClient(Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT))) as client:
        assert (await client.post(canary.url(), {}, b"{}")).is_success
    assert canary.connections == 2


async def test_without_the_guard_they_reach_it(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the guard the URLs reach the canary, so the table of URLs is a real test."""
    monkeypatch.setattr(client_module, "url_errors", only_unreadable)
    urls = [url for url in hostile_urls(canary.port) if url.startswith("http://") and "127" in url]
    urls += [f"http://{name}:{canary.port}/" for name in ("loopback.test", "mapped.test", "localhost")]
    scripted = names()
    scripted.say("localhost", [["127.0.0.1"]])
    async with aclosing(GuardedClient(Blind(allow_http=True), deadline=5, resolver=scripted.resolver)) as client:
        reached = [found for found in await all_of(client, urls) if found.is_success]
    assert len(reached) >= 15


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_answers(canary: Canary, status: int) -> None:
    async with (
        Receiver() as receiver,
        aclosing(GuardedClient(Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT))) as client,
    ):
        for target in (canary.url(), canary.url().removeprefix("http:"), "http://169.254.169.254/", "file:///etc"):
            found = await client.post(receiver.url(f"/{status}?{target}"), {}, b"{}")
            assert (found.status, found.is_success, found.headers["location"]) == (status, False, target)
    assert canary.connections == 0


async def test_rebinding_between_the_check_and_the_dial(canary: Canary) -> None:
    """A name is resolved once for each connection, and exactly the resolved address is used."""
    scripted = ScriptedNames(rebinding_test=[["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2", "127.0.0.1"]])
    guard = Guard(["127.0.0.2/32"], allow_http=True, allow_ports=ANY_PORT)
    url = f"http://rebinding.test:{canary.port}/"
    async with aclosing(GuardedClient(guard, deadline=1, resolver=scripted.resolver)) as client:
        first, second, third = [await client.post(url, {}, b"{}") for _ in range(3)]
    assert first.error == f"rebinding.test refused the connection at port {canary.port}."
    for found in (second, third):
        assert found.error == NOWHERE.format(host="rebinding.test", section="webhooks")
    assert (canary.connections, len(scripted.asked)) == (0, 3)


async def test_the_own_port_is_never_dialled(canary: Canary) -> None:
    guard = Guard(["127.0.0.1/32"], allow_http=True, own_ports=[canary.port], allow_ports=ANY_PORT)
    scripted = ScriptedNames(own_test=[["127.0.0.1"]])
    async with aclosing(GuardedClient(guard, resolver=scripted.resolver)) as client:
        found = await client.post(f"http://127.0.0.1:{canary.port}/", {}, b"{}")
        assert (
            found.error
            == f"127.0.0.1 at port {canary.port} is the address of wmsd. Use the address of another service."
        )
        found = await client.post(f"http://own.test:{canary.port}/", {}, b"{}")
        assert found.error == NOWHERE.format(host="own.test", section="webhooks")
    assert canary.connections == 0


async def test_no_port_is_dialled_that_is_not_listed(canary: Canary) -> None:
    """No port outside the list is reached, neither by address nor by name."""
    listed = Guard(["127.0.0.1/32"], allow_http=True, allow_ports=[80, f"{canary.port + 1}-65535"])
    scripted = ScriptedNames(lan_test=[["127.0.0.1"]])
    async with aclosing(GuardedClient(listed, resolver=scripted.resolver)) as client:
        for host in ("127.0.0.1", "lan.test"):
            found = await client.post(f"http://{host}:{canary.port}/", {}, b"{}")
            assert "webhooks.allow_ports" in (found.error or "")
    assert canary.connections == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "127.0.0.1"),
        ("host", "127.0.0.1"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("X-A", "b\r\nHost: 127.0.0.1"),
        ("X-A", "b\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("X-A\r\nHost", "127.0.0.1"),
        ("X-A", "b\nc"),
        ("X-A", "b\0c"),
        ("X-A: b\r\nHost: c", "d"),
    ],
)
async def test_no_header_changes_what_is_sent(canary: Canary, name: str, value: str) -> None:
    assert header_errors({name: value}) != {}
    async with aclosing(GuardedClient(Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT))) as client:
        with pytest.raises(ValueError, match="wmsd cannot send"):
            await client.post(canary.url(), {name: value}, b"{}")
    assert canary.connections == 0


async def test_one_request_is_one_request(canary: Canary) -> None:
    """A body that looks like a second request is sent as a body."""
    body = b"{}\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
    canary.script.append(answer())
    async with aclosing(GuardedClient(Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT))) as client:
        assert (await client.post(canary.url(), {}, body)).is_success
    assert [(received.path, received.body) for received in canary.received] == [("/200", body)]
