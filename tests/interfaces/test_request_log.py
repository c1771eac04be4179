"""A log line for every request, whatever was sent: it names the sender, and contains nothing forged."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.log_lines import Kept, keeping
from tests.support.raw_http import Request
from tests.support.world import UNLIMITED, World, open_world
from wmsd.interfaces.http import request_log
from wmsd.interfaces.http.malformed_requests import UNREADABLE

TRUSTING: dict[str, Any] = {**UNLIMITED, "server": {"trusted_proxies": ["127.0.0.0/8"]}}
HTTP = {
    "method": b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    "method, later": b"GET /docs HTTP/1.1\r\nHost: x\r\n\r\nB@D / HTTP/1.1\r\n\r\n",
    "header": b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sec\x01ret\r\n\r\n",
    "header name": b"GET / HTTP/1.1\r\nHost: x\r\nsec\x1b[31mret: y\r\n\r\n",
    "path": b"GET /sec\x1b[31mret HTTP/1.1\r\nHost: x\r\n\r\n",
    "long path": b"GET /secret" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "address": b"GET http://[::1/secret HTTP/1.1\r\nHost: x\r\n\r\n",
    "chunk": b"POST /docs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nsecret\r\n",
    "length": b"POST /docs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "version": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "long header": b"GET /docs HTTP/1.1\r\nHost: x\r\nsecret: " + b"x" * 20_000 + b"\r\n\r\n",
    "many headers": b"GET /docs HTTP/1.1\r\nHost: x\r\n" + b"secret: x\r\n" * 2_000 + b"\r\n",
    "NUL": b"GET /docs HTTP/1.1\r\nHost: x\r\nsecret: \0\r\n\r\n",
    "two lengths": b"POST /docs HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "HTTP/1.0": b"GET /sec ret HTTP/1.0\r\n\r\n",
}


@pytest.fixture
def kept() -> Iterator[Kept]:
    with keeping() as handler:
        yield handler


@pytest.fixture(params=[UNLIMITED, TRUSTING], ids=["directly", "by a proxy"])
async def reached(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with open_world(tmp_path / "data", request.param) as world:
        yield world


async def send(world: World, whole: bytes) -> bytes:
    """Send the bytes, and return everything until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.caller.port)
    writer.write(whole)
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    return answer


def get(world: World, path: str, headers: bytes = b"", method: str = "GET") -> Request:
    """Return a request with exactly these header bytes."""
    if b"X-Company-Id" not in headers:
        headers += b"X-Company-Id: 1\r\n"
    bearer = f"Authorization: Bearer {world.token}\r\n".encode()
    return Request(f"{method} {path} HTTP/1.1\r\nHost: x\r\n".encode() + bearer + headers + b"\r\n", b"")


async def test_a_line_says_who_asked_for_what_and_from_where(world: World, kept: Kept) -> None:
    answer = await world.call("GET", "/api/articles")
    (line,), (text,) = kept.objects, kept.lines
    assert (line["user_id"], line["token_id"], line["company_id"], line["address"]) == (1, 1, "1", "127.0.0.1")
    request = answer.headers["X-Request-Id"]
    assert text.endswith(f" company=1 user=1 token=1 from=127.0.0.1 request={request}")


async def test_graphql_and_batches_say_it_too(world: World, kept: Kept) -> None:
    await world.send("POST", "/api/graphql", {"query": "{ articles { totalCount } }"})
    await world.call("POST", "/api/v2/batch", {"requests": [{"method": "GET", "path": "/api/v2/articles"}]})
    for line in kept.objects:
        assert (line["user_id"], line["token_id"], line["company_id"]) == (1, 1, "1")
    assert len(kept.objects) == 2


async def test_an_address_behind_a_trusted_proxy_is_the_callers(tmp_path: Path, kept: Kept) -> None:
    async with open_world(tmp_path / "data", TRUSTING) as world:
        kept.records.clear()
        await world.send("GET", "/docs", headers={"X-Forwarded-For": "192.0.2.1"}, token="", company="")
        await world.send("GET", "/api/articles", headers={"X-Forwarded-For": "192.0.2.2"})
        await world.send("GET", "/docs", headers={"X-Forwarded-For": "fe80::1%x company=9"}, token="", company="")
    assert [line["address"] for line in kept.objects] == ["192.0.2.1", "192.0.2.2", "fe80::/64"]


@pytest.mark.parametrize("company", [b"7", b"999", b"1 request=forged", b"1\xc2\x9b2", b"1\xe2\x80\xae", b"0x1"])
@pytest.mark.parametrize("path", ["/api/articles", "/api/companies", "/api/health", "/docs"])
async def test_a_company_that_nobody_was_admitted_to_is_not_logged(
    world: World, kept: Kept, path: str, company: bytes
) -> None:
    await world.caller.ask(get(world, path, b"X-Company-Id: " + company + b"\r\n"))
    (line,), (text,) = kept.objects, kept.lines
    assert "company_id" not in line
    assert "company=" not in text
    assert text.count(" request=") == 1
    assert text.isprintable()


@pytest.mark.parametrize(
    "path", ["/api/a%0aX", "/api/articles/1%0a", "/%0a/x", "/api/a%0d%0a%1b[31mX", "/api/a%00"]
)
async def test_a_line_break_in_an_address_has_an_answer_of_ours_and_one_line(
    world: World, kept: Kept, path: str
) -> None:
    answer = await world.caller.ask(get(world, path))
    (line,), (text,) = kept.objects, kept.lines
    assert (answer.status, line["status"]) == (404, 404)
    if path.startswith("/api/"):
        assert answer.body["code"] == "NOT_FOUND"
    assert f"\r\nx-request-id: {line['request_id']}\r\n".encode() in answer.head.lower()
    assert f"GET {path} 404 " in text
    assert text.isprintable()


@pytest.mark.parametrize("whole", HTTP.values(), ids=HTTP)
async def test_what_is_no_http_has_one_line_and_no_trace(reached: World, kept: Kept, whole: bytes) -> None:
    answer = await send(reached, whole)
    told = [line for line in kept.lines if "GET /docs 200" not in line]
    (line,) = told
    status, begins = (431, "The head of this request is too large") if b"secret: x" in whole else (400, UNREADABLE)
    head, _, body = answer[answer.index(b" %d " % status) :].partition(b"\r\n\r\n")
    said = json.loads(body)
    assert (said["code"], said["message"].startswith(begins)) == ("VALIDATION_FAILED", True)
    assert "sec" not in said["message"]
    headers = {
        name.lower(): value for name, _, value in (each.partition(": ") for each in head.decode().split("\r\n"))
    }
    assert (headers["server"], headers["content-type"]) == ("wmsd", "application/json")
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    assert headers["x-request-id"] in line
    assert f" info    UNKNOWN / {status} " in line
    assert " from=127.0.0.1" in line
    assert line.isprintable()
    assert "sec" not in line, "what was sent may be a token"


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "OPTIONS * 404 "),
        (b"GET http://example.com HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET - 404 "),
        (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "CONNECT "),
    ],
    ids=["every address", "no address", "another server"],
)
async def test_what_aiohttp_answers_by_itself_has_a_line_too(
    world: World, kept: Kept, whole: bytes, told: str
) -> None:
    answer = await send(world, whole)
    (line,) = kept.lines
    assert told in line
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"\r\nServer: wmsd\r\n" in head
    assert b"aiohttp" not in head
    assert json.loads(body) == {"message": "This address does not exist.", "code": "NOT_FOUND"}


@pytest.mark.parametrize("expectation", [b"tea", b"\x80", b"100-continue, tea"])
async def test_an_expectation_that_is_unknown_is_ignored(world: World, kept: Kept, expectation: bytes) -> None:
    answer = await world.caller.ask(get(world, "/api/articles", b"Expect: " + expectation + b"\r\n"))
    assert answer.status == 200
    (line,) = kept.objects
    assert line["status"] == 200


async def test_a_body_that_waits_to_be_asked_for_is_asked_for(world: World, kept: Kept) -> None:
    request = world.caller.post("/api/articles", {"code": "A", "name": "Apple"})
    async with world.caller.connections(1) as (connection,):
        await connection.send(request.head.removesuffix(b"\r\n") + b"Expect: 100-continue\r\n\r\n")
        assert await connection.begin_to_read() == 100
        await connection.send(request.body)
        async with asyncio.timeout(30):
            while not kept.records:  # noqa: ASYNC110  (a log record is not an event)
                await asyncio.sleep(0.01)
    assert [line["status"] for line in kept.objects] == [201]


async def test_what_aiohttp_stumbles_over_leaves_few_traces(world: World, kept: Kept) -> None:
    stumbling = b"OPTIONS * HTTP/1.1\r\nHost: x\r\nExpect: \x80\r\nConnection: close\r\n\r\n"
    for _ in range(30):
        await send(world, stumbling)
    assert len([record for record in kept.records if record.exc_info]) == 10
    assert [line["status"] for line in kept.objects if "status" in line] == [500] * 20


async def test_a_body_that_was_left_unread_leaves_no_trace(world: World, kept: Kept) -> None:
    head = (
        b"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\nConnection: close\r\n"
    )
    answer = await send(world, get(world, "/api/articles", head, "POST").head + b"hello")
    assert b" 415 " in answer
    (line,) = kept.lines
    assert "POST /api/articles 415 " in line


async def test_a_line_that_cannot_be_written_costs_nobody_the_answer(
    world: World, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("made to fail")

    monkeypatch.setattr(request_log, "log_request", fail)
    for _ in range(3):
        assert (await world.send("GET", "/api/health")).status == 200
        assert b" 400 " in await send(world, HTTP["path"])
    (line,) = kept.lines
    assert "requests are answered, but not logged" in line


async def test_a_long_address_is_cut(world: World, kept: Kept) -> None:
    await world.send("GET", "/api/" + "x" * 5000)
    (line,) = kept.lines
    assert len(line) < 700


async def test_a_flood_of_refusals_is_few_lines_and_callers_keep_theirs(tmp_path: Path, kept: Kept) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        world.clock.advance(60)
        kept.records.clear()
        for _ in range(60):
            await world.send("GET", "/api/articles", token="wrong")
        await send(world, HTTP["header"])
        assert len(kept.records) == 50
        for _ in range(5):
            await world.call("GET", "/api/articles")
        assert [line["status"] for line in kept.objects][50:] == [200] * 5
        world.clock.advance(1)
        for _ in range(60):
            await world.send("GET", "/api/articles", token="wrong")
        assert len(kept.records) == 60
        world.clock.advance(9)
    last = kept.objects[-1]
    assert last["message"] == "66 more refused requests were not logged in the last 10 s (400: 1, 401: 65)"
    assert len(kept.records) == 61


async def test_a_company_over_its_limit_floods_nothing(tmp_path: Path, kept: Kept) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 1}}) as world:
        world.clock.advance(60)
        kept.records.clear()
        for _ in range(60):
            await world.send("GET", "/api/articles")
        assert [line["status"] for line in kept.objects] == [200] + [429] * 50
        assert {line["user_id"] for line in kept.objects} == {1}


async def test_what_was_left_out_is_told_while_the_service_runs(
    world: World, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "REPORT_SECONDS", 0.01)
    for _ in range(60):
        await world.send("GET", "/api/articles", token="wrong")
    async with asyncio.timeout(30):
        while not any("were not logged" in line for line in kept.lines):  # noqa: ASYNC110  (a log record is not an event)
            await asyncio.sleep(0.01)


async def test_without_request_lines_a_flood_says_nothing(tmp_path: Path, kept: Kept) -> None:
    async with open_world(tmp_path / "data", {**UNLIMITED, "log": {"requests": False}}) as world:
        for _ in range(60):
            await world.send("GET", "/api/articles", token="wrong")
        await send(world, HTTP["header"])
    assert kept.lines == []
