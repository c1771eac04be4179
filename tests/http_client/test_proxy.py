"""Tests of a proxy in the settings: every request goes through it, and the guard still checks each receiver."""

import socket
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.support.authority import HOST, Authority
from tests.support.http_proxy import Proxy
from tests.support.receivers import ANY_PORT, Receiver
from tests.support.scripted_names import Saying, ScriptedNames
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.guard import Guard

PUBLIC = "93.184.216.34"
LISTED = Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT)
BODY = b'{"event":"stock.updated"}'
NOT_KNOWN = socket.gaierror(socket.EAI_NONAME, "not known")


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    async with Proxy() as opened:
        yield opened


def client_of(
    proxy: str, authority: Authority, guard: Guard = LISTED, **names: list[Saying]
) -> aclosing[GuardedClient]:
    resolver = ScriptedNames(**names).resolver
    return aclosing(GuardedClient(guard, str(authority.ca_file), resolver=resolver, proxy=proxy))


@pytest.mark.parametrize("known", [[PUBLIC], NOT_KNOWN], ids=["known here", "known to the proxy only"])
async def test_https_goes_through_a_tunnel_with_the_certificate_checked(
    proxy: Proxy, authority: Authority, known: Saying
) -> None:
    async with (
        Receiver(tls=authority.server_context()) as receiver,
        Receiver(tls=authority.server_context("elsewhere")) as other,
        client_of(proxy.url, authority, Guard(), receiver_test=[known]) as client,
    ):
        sent = [await client.post(receiver.url("/200", HOST), {}, BODY) for _ in range(2)]
        refused = await client.post(other.url("/200", HOST), {}, BODY)
    assert [(each.status, each.error) for each in sent] == [(200, None)] * 2
    assert [each.body for each in receiver.received] == [BODY] * 2
    assert proxy.asked == [f"CONNECT {HOST}:{each.port} HTTP/1.1" for each in (receiver, other)], "one is kept"
    assert (refused.error, other.received) == (f"The certificate of {HOST} is for another host name.", [])


async def test_http_is_asked_by_its_whole_address(proxy: Proxy, authority: Authority) -> None:
    async with Receiver() as receiver, client_of(proxy.url, authority) as client:
        assert (await client.post(receiver.url("/200?a=b"), {}, BODY)).status == 200
    assert (receiver.received[0].path, receiver.received[0].body) == ("/200?a=b", BODY)
    assert proxy.asked == [f"POST {receiver.url('/200?a=b')} HTTP/1.1"]


@pytest.mark.parametrize(
    ("url", "known", "guard"),
    [
        ("https://10.0.0.5/", NOT_KNOWN, Guard()),
        ("https://localhost/", NOT_KNOWN, Guard()),
        ("https://a.test/", ["10.0.0.5"], Guard()),
        ("https://a.test/", [PUBLIC, "169.254.169.254"], Guard()),
        ("https://a.test:25/", NOT_KNOWN, Guard()),
        ("http://a.test/", [PUBLIC], LISTED),
        ("http://a.test/", NOT_KNOWN, LISTED),
    ],
)
async def test_what_may_not_be_dialled_is_not_asked_of_the_proxy(
    proxy: Proxy, authority: Authority, url: str, known: Saying, guard: Guard
) -> None:
    async with client_of(proxy.url, authority, guard, a_test=[known]) as client:
        sent = await client.post(url, {}, BODY)
    assert (sent.status, proxy.asked) == (None, [])
    assert sent.error


async def test_a_proxy_that_fails_is_told_and_the_receiver_is_not_blamed(authority: Authority) -> None:
    url = f"https://{HOST}/"
    async with Proxy("407 Proxy Authentication Required") as strict, client_of(strict.url, authority) as client:
        refused = await client.post(url, {}, BODY)
    assert refused.error == (
        f"The proxy in webhooks.proxy did not connect to {HOST}, and answered with status 407."
    )
    for gone in (strict.url, "http://nobody.test:3128"):
        async with client_of(gone, authority) as client:
            assert (await client.post(url, {}, BODY)).error == "The proxy in webhooks.proxy cannot be reached."
