"""The log: lines for people or programs, with the request's id and company, and never a secret."""

import json
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.world import PASSWORD, World
from wmsd.app.logs import HumanFormatter, JsonFormatter

FORMATS = pytest.mark.parametrize("formatter", [HumanFormatter(), JsonFormatter()], ids=["human", "json"])


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, logger = Kept(), logging.getLogger("wmsd")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


async def test_a_request_is_a_line_with_its_id_and_company(world: World, kept: Kept) -> None:
    answer = await world.send("GET", "/api/articles/1")
    (line,) = [json.loads(JsonFormatter().format(record)) for record in kept.records]
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert (line["company_id"], line["status"], line["level"]) == (str(world.company), 404, "info")
    assert line["message"].startswith("GET /api/articles/1 404 ")
    assert line["time"].endswith("Z")


@FORMATS
async def test_no_line_holds_a_token_or_a_password(world: World, kept: Kept, formatter: logging.Formatter) -> None:
    token = await world.new_token("admin@example.com", lifetime=timedelta(days=1))
    await world.send("GET", f"/api/articles?token={token}", token=token)
    await world.send("GET", f"/first-admin?code={token}", token="")
    await world.send("GET", "/api/articles", token="x" + token)
    body = {"email": "admin@example.com", "password": PASSWORD, "abilities": ["*"]}
    issued = (await world.send("POST", "/api/auth/token", body)).body["token"]
    await world.send("POST", "/api/auth/token", {**body, "password": PASSWORD + "x", "unknown": PASSWORD})
    text = "\n".join(formatter.format(record) for record in kept.records)
    assert len(kept.records) == 5
    for secret in (token, issued, PASSWORD):
        assert secret not in text


@FORMATS
async def test_a_mistake_of_ours_leaves_its_trace_with_the_requests_id(
    world: World, kept: Kept, formatter: logging.Formatter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("what went wrong")

    monkeypatch.setattr("wmsd.articles.store.one", broken)
    answer = await world.send("GET", "/api/articles/1")
    (trace,) = [formatter.format(record) for record in kept.records if record.exc_info]
    assert "RuntimeError: what went wrong" in trace
    assert answer.headers["X-Request-Id"] in trace
