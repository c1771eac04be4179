"""Tests of names that are not found, and of name servers that hang: nobody else waits for them."""

import asyncio
import errno
import socket
import subprocess
import sys
import time
from contextlib import aclosing
from ipaddress import ip_address
from threading import Event

import pytest

from tests.support.authority import HOST
from tests.support.receivers import ANY_PORT, Receiver
from tests.support.scripted_names import Saying, ScriptedNames
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.dns_resolver import MOST, MOST_OF_PARTY, MOST_OF_ZONE
from wmsd.http_client.failures import NOWHERE
from wmsd.http_client.guard import Guard

LISTED = Guard(["127.0.0.1/32"], allow_http=True, allow_ports=ANY_PORT)
HEADERS = {"User-Agent": "3PL-WMS-Webhook/1.0", "Content-Type": "application/json"}
BODY = b'{"event":"stock.updated"}'


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), NOWHERE.format(host="a.test", section="webhooks")),
        (UnicodeError("label too long"), NOWHERE.format(host="a.test", section="webhooks")),
        (
            socket.gaierror(socket.EAI_AGAIN, "x"),
            "The name a.test cannot be looked up at the moment: its name server does not answer.",
        ),
        (OSError(errno.EIO, "Input/output error"), "The name a.test cannot be looked up."),
    ],
)
async def test_names_that_are_not_found(error: Exception, sentence: str) -> None:
    async with aclosing(GuardedClient(LISTED, resolver=ScriptedNames(a_test=[error]).resolver)) as client:
        assert (await client.post("https://a.test/", HEADERS, BODY)).error == sentence


INNER = {
    "erp_lan": ["10.0.0.5"],
    "loopback_lan": ["127.0.0.1"],
    "cloud_lan": ["169.254.169.254"],
    "mixed_lan": ["8.8.8.8", "192.168.7.9"],
    "six_lan": ["fd12:3456::1"],
    "mapped_lan": ["::ffff:10.0.0.5"],
    "odd_lan": ["240.0.0.1"],
    "public_lan": ["93.184.216.34"],
}


async def test_nobody_is_told_what_a_name_leads_to_nor_whether_there_is_such_a_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No caller is told what a name resolves to, or whether the name exists. The log contains it once.

    The errors of all names differ only in the requested name.
    """
    known: dict[str, list[Saying]] = {name: [addresses] for name, addresses in INNER.items()}
    guard = Guard(["127.0.0.0/8"], allow_http=True)
    hosts = [name.replace("_", ".") for name in INNER]
    async with aclosing(GuardedClient(guard, resolver=ScriptedNames(**known).resolver)) as client:
        for host in (*hosts, "unknown.lan"):
            for _ in range(3):
                answer = await client.post(f"http://{host}/", HEADERS, BODY)
                assert (answer.status, answer.error) == (None, NOWHERE.format(host=host, section="webhooks"))
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == len(hosts) + 1
    for addresses, line in zip(INNER.values(), told, strict=False):
        assert any(str(ip_address(address)) in line for address in addresses)
    assert told[-1].startswith("nothing can be sent to unknown.lan at port 80: ")


async def test_an_address_that_was_written_in_the_url_is_named() -> None:
    async with aclosing(GuardedClient(Guard())) as client:
        answer = await client.post("https://10.0.0.5/", HEADERS, BODY)
    assert (
        answer.error == "10.0.0.5 is a private address; to allow it, add its network to webhooks.allow_networks."
    )


async def test_a_name_server_that_hangs_holds_up_nobody_else() -> None:
    never = Event()
    hanging: dict[str, list[Saying]] = {f"a{number}_slow_test": [never] for number in range(MOST_OF_ZONE + 4)}
    scripted = ScriptedNames(receiver_test=[["127.0.0.1"]], **hanging)
    async with Receiver() as receiver, aclosing(GuardedClient(LISTED, "", 2.0, scripted.resolver)) as client:
        slow = [
            asyncio.create_task(client.post(f"https://a{number}.slow.test/", HEADERS, BODY))
            for number in range(MOST_OF_ZONE + 4)
        ]
        await asyncio.sleep(0.05)
        quick = await client.post(receiver.url(host=HOST), HEADERS, BODY)
        assert quick.is_success
        assert not any(task.done() for task in slow)
        for found in await asyncio.gather(*slow):
            assert ", while waiting for the address of the host" in (found.error or "")
        assert sum(host.endswith("slow.test") for host in scripted.asked) == MOST_OF_ZONE < MOST
    never.set()


@pytest.mark.parametrize(
    ("hanging", "most"),
    [
        ([f"a{number}.co.uk" for number in range(MOST_OF_ZONE + 4)], MOST_OF_ZONE),
        ([f"a.zone{number}" for number in range(MOST_OF_PARTY + 4)], MOST_OF_PARTY),
    ],
    ids=["in one zone", "in many zones"],
)
async def test_the_dead_name_server_of_one_company_holds_up_no_other(hanging: list[str], most: int) -> None:
    """The dead name server of one company delays no other company.

    This holds even if the names of both seem to be in one zone, judged by the last two labels.
    """
    never = Event()
    known: dict[str, list[Saying]] = {host.replace(".", "_"): [never] for host in hanging}
    scripted = ScriptedNames(receiver_co_uk=[["127.0.0.1"]], **known)
    async with Receiver() as receiver, aclosing(GuardedClient(LISTED, "", 2.0, scripted.resolver)) as client:
        slow = [asyncio.create_task(client.post(f"https://{host}/", HEADERS, BODY, party=1)) for host in hanging]
        while len(scripted.asked) < most:  # noqa: ASYNC110  # nothing reports it
            await asyncio.sleep(0.01)
        url = receiver.url(host="receiver.co.uk")
        assert (await client.post(url, HEADERS, BODY, party=2)).is_success
        assert not any(task.done() for task in slow)
        assert len(scripted.asked) == most + 1
        await asyncio.gather(*slow)
    never.set()


@pytest.mark.alone
async def test_a_name_is_asked_for_once_at_a_time() -> None:
    never = Event()
    scripted = ScriptedNames(a_test=[never])
    async with aclosing(GuardedClient(LISTED, "", 1.0, scripted.resolver)) as client:
        await asyncio.gather(*(client.post("https://a.test/", HEADERS, BODY) for _ in range(20)))
    assert scripted.asked == ["a.test"]
    never.set()


def test_a_lookup_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    program = """
import asyncio, time
from contextlib import aclosing
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.guard import Guard
from wmsd.http_client.dns_resolver import DnsResolver
async def main():
    async with aclosing(GuardedClient(Guard(), "", 0.1, DnsResolver(lambda host: time.sleep(30)))) as client:
        print((await client.get("https://a.test/", {})).error)
asyncio.run(main())
"""
    started = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert ", while waiting for the address" in ended.stdout
    assert ended.stderr == ""
    assert time.monotonic() - started < 10
