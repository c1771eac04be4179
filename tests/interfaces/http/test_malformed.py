"""The replies when aiohttp fails before a request reaches its route."""

import asyncio
import json
from unittest.mock import Mock

import pytest
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.test_utils import make_mocked_request

from tests.support.log_lines import keeping
from tests.support.world import World
from wmsd.interfaces.http.malformed_requests import RequestHandler
from wmsd.interfaces.http.request_log import REQUEST_ID, RequestLog


async def told(world: World, method: str, error: Exception, status: int) -> tuple[int, str, str]:
    """Return status, code and message of the reply, and check that the reply has the request's id."""
    installation = world.installation
    log = RequestLog(installation, [])
    server = web.Server(lambda request: pytest.fail("it reached a route"))
    handler = RequestHandler(installation, log, server, loop=asyncio.get_running_loop(), **log.for_aiohttp())
    request = make_mocked_request(method, "/api/articles", writer=Mock(output_size=0))  # nothing is sent yet
    answer = handler.handle_error(request, status, error, getattr(error, "message", None))
    assert isinstance(answer, web.Response)
    assert (answer.headers["X-Request-Id"], answer.headers["Server"]) == (request[REQUEST_ID], "wmsd")
    body = json.loads(answer.text or "")
    return answer.status, body["code"], body["message"]


@pytest.mark.parametrize(
    "sentence", ["Span callback error in on_body:\n\n  b'x'\n", "`on_message_begin` callback error"]
)
async def test_a_parser_that_finds_no_memory_is_a_shortage_and_not_the_clients_fault(
    world: World, sentence: str
) -> None:
    with keeping() as kept:
        status, code, _ = await told(world, "UNKNOWN", BadHttpMessage(sentence), 400)
    assert (status, code) == (503, "SERVICE_UNAVAILABLE")
    assert "requests are interrupted: the parser ran out of memory" in "".join(kept.lines)


async def test_what_a_client_sends_is_not_taken_for_a_shortage(world: World) -> None:
    error = BadHttpMessage("Invalid header value char:\n\n  b'x: callback error'\n")
    assert await told(world, "UNKNOWN", error, 400) == (
        400,
        "VALIDATION_FAILED",
        "This is not a valid HTTP request (Invalid header value char).",
    )


@pytest.mark.parametrize(("method", "code"), [("GET", "SERVICE_UNAVAILABLE"), ("POST", "OUTCOME_UNKNOWN")])
async def test_a_shortage_says_whether_something_may_have_been_written(
    world: World, method: str, code: str
) -> None:
    assert (await told(world, method, MemoryError(), 500))[1] == code


async def test_a_mistake_of_ours_shows_no_internals(world: World) -> None:
    status, code, message = await told(world, "GET", KeyError("secret"), 500)
    assert (status, code) == (500, "SERVER_ERROR")
    assert "secret" not in message
