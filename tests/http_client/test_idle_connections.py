"""Tests of idle connections: only few are retained for the next request, and not for long."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.http_client.test_client import BODY, HEADERS, LISTED
from tests.support.authority import Authority
from tests.support.receivers import Receiver
from tests.support.scripted_names import Saying, ScriptedNames
from wmsd.http_client import connector
from wmsd.http_client.client import GuardedClient

FAREWELL_SECONDS = 30.0
"""The seconds for which asyncio waits for the TLS farewell by default."""


async def test_no_more_idle_connections_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of idle connections is bounded.

    Each connection is an open file of the service, and a tenant may have any number of hosts.
    """
    monkeypatch.setattr(connector, "MOST_KEPT", 3)
    known: dict[str, list[Saying]] = {f"a{number}_test": [["127.0.0.1"]] for number in range(20)}
    resolver = ScriptedNames(**known).resolver
    async with Receiver() as receiver, aclosing(GuardedClient(LISTED, resolver=resolver)) as client:
        before = open_files()
        for number in range(20):
            assert (await client.post(receiver.url(host=f"a{number}.test"), {}, b"{}")).is_success
        await asyncio.sleep(0.1)
        assert open_files() - before <= 2 * 3, "the receiver's ends are in this process too"


async def test_idle_connections_are_not_kept_for_long(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle connections are not retained for long.

    TLS does not wait for the farewell of a receiver that sends none.
    """
    monkeypatch.setattr(connector, "KEEP_SECONDS", 0.05)
    async with (
        Receiver(tls=authority.server_context()) as receiver,
        aclosing(GuardedClient(LISTED, str(authority.ca_file))) as client,
    ):
        before = open_files()
        assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
        async with asyncio.timeout(FAREWELL_SECONDS / 2):
            while open_files() > before:  # noqa: ASYNC110  # nothing reports it
                await asyncio.sleep(0.01)
        assert (await client.post(receiver.url(), HEADERS, BODY)).is_success
        assert receiver.connections == 2


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
