"""Names that are not found, and name servers that hang: nobody else waits for them."""

import asyncio
import errno
import socket
import subprocess
import sys
import time
from threading import Event

import pytest

from tests.support.authority import HOST
from tests.support.receivers import Receiver
from tests.support.scripted_names import Saying, ScriptedNames
from wmsd.webhooks.client import GuardedClient
from wmsd.webhooks.guard import Guard
from wmsd.webhooks.names import MOST, MOST_OF_ZONE

LISTED = Guard(["127.0.0.1/32"], allow_http=True)
HEADERS = {"User-Agent": "3PL-WMS-Webhook/1.0", "Content-Type": "application/json"}
BODY = b'{"event":"stock.updated"}'


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "There is no address for the name a.test."),
        (UnicodeError("label too long"), "There is no address for the name a.test."),
        (
            socket.gaierror(socket.EAI_AGAIN, "x"),
            "The name a.test cannot be looked up at the moment: its name server does not answer.",
        ),
        (OSError(errno.EIO, "Input/output error"), "The name a.test cannot be looked up."),
    ],
)
async def test_names_that_are_not_found(error: Exception, sentence: str) -> None:
    async with GuardedClient(LISTED, names=ScriptedNames(a_test=[error]).names) as client:
        assert (await client.post("https://a.test/", HEADERS, BODY)).error == sentence


async def test_a_name_server_that_hangs_holds_up_nobody_else() -> None:
    never = Event()
    hanging: dict[str, list[Saying]] = {f"a{number}_slow_test": [never] for number in range(MOST_OF_ZONE + 4)}
    scripted = ScriptedNames(receiver_test=[["127.0.0.1"]], **hanging)
    async with Receiver() as receiver, GuardedClient(LISTED, "", 2.0, scripted.names) as client:
        slow = [
            asyncio.create_task(client.post(f"https://a{number}.slow.test/", HEADERS, BODY))
            for number in range(MOST_OF_ZONE + 4)
        ]
        await asyncio.sleep(0.05)
        quick = await client.post(receiver.url(host=HOST), HEADERS, BODY)
        assert quick.is_success
        assert not any(task.done() for task in slow)
        for found in await asyncio.gather(*slow):
            assert "kept waiting for the address of the host" in (found.error or "")
        assert sum(host.endswith("slow.test") for host in scripted.asked) == MOST_OF_ZONE < MOST
    never.set()


async def test_a_name_is_asked_for_once_at_a_time() -> None:
    never = Event()
    scripted = ScriptedNames(a_test=[never])
    async with GuardedClient(LISTED, "", 0.1, scripted.names) as client:
        await asyncio.gather(*(client.post("https://a.test/", HEADERS, BODY) for _ in range(20)))
    assert scripted.asked == ["a.test"]
    never.set()


def test_a_lookup_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    program = """
import asyncio, time
from wmsd.webhooks.client import GuardedClient
from wmsd.webhooks.guard import Guard
from wmsd.webhooks.names import Names
async def main():
    async with GuardedClient(Guard(), "", 0.1, Names(lambda host: time.sleep(30))) as client:
        print((await client.get("https://a.test/", {})).error)
asyncio.run(main())
"""
    started = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert "kept waiting for the address" in ended.stdout
    assert ended.stderr == ""
    assert time.monotonic() - started < 10
