"""Tests of a machine that is short of threads or files: callers get an error, never wait for ever, and afterwards
all works.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.support.shortage import no_more_files, no_more_threads
from tests.support.world import World

SOON = 15.0
ARTICLE = {"code": "A", "name": "A"}
REQUESTS: dict[str, tuple[str, str, Any, int]] = {
    "a search, on a thread of its own": ("GET", "/api/articles?search=apple", None, 200),
    "the first write": ("POST", "/api/articles", ARTICLE, 201),
    "a large body": ("POST", "/api/articles", {**ARTICLE, "description": "x" * 900, "name": "x" * 20_000}, 422),
    "the first read": ("GET", "/api/articles", None, 200),
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("shortage", [no_more_threads, no_more_files])
async def test_a_request_in_a_shortage_is_answered_and_the_next_one_is_served(
    world: World, shortage: Callable[[], AbstractContextManager[None]], name: str
) -> None:
    method, path, body, status = REQUESTS[name]
    company = await world.new_company("OTHER")
    assert (await world.send("GET", "/api/user", company=company)).status == 200  # the connection is open
    async with asyncio.timeout(SOON):
        with shortage():
            answer = await world.send(method, path, body, company=company)
        assert answer.status in (503, status)
        if answer.status == 503:
            assert answer.body["code"] == "SERVICE_UNAVAILABLE"
            assert int(answer.headers["Retry-After"]) > 0
        assert (await world.send(method, path, body, company=company)).status == status


async def test_a_shortage_is_told_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with no_more_threads():
        answers = [await world.send("POST", "/api/articles", ARTICLE) for _ in range(5)]
    assert [answer.status for answer in answers] == [503] * 5
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    assert [(record.getMessage(), record.exc_info) for record in told] == [
        ("requests are refused: can't start new thread", None)
    ]


async def test_a_request_that_is_broken_off_for_want_of_memory_is_no_false_refusal(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def dispatch(call: object) -> None:
        raise MemoryError

    with monkeypatch.context() as short:
        short.setattr(world.installation.dispatcher, "dispatch", dispatch)
        read = await world.send("GET", "/api/articles")
        written = await world.send("POST", "/api/articles", ARTICLE)
    assert (read.status, read.body["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert (written.status, written.body["code"]) == (503, "OUTCOME_UNKNOWN")
    assert written.body["message"].startswith(
        "The server ran short of memory, threads or open files: the change may or may not be stored"
    )
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "requests are interrupted: MemoryError"
    ]
