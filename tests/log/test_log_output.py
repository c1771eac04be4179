"""Tests of the log: lines for people or programs, with the id of the request and the company, and
never a secret.
"""

import json
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.log_lines import Kept, keeping
from tests.support.world import PASSWORD, World
from wmsd.log.output import HumanFormatter, JsonFormatter

FORMATS = pytest.mark.parametrize("formatter", [HumanFormatter(), JsonFormatter()], ids=["human", "json"])


@pytest.fixture
def kept() -> Iterator[Kept]:
    with keeping() as handler:
        yield handler


def record(message: str, trace: BaseException | None = None, **fields: object) -> logging.LogRecord:
    exc_info = None if trace is None else (type(trace), trace, None)
    made = logging.LogRecord("wmsd.test", logging.INFO, "", 0, "%s", (message,), exc_info)
    vars(made).update(fields)
    return made


NASTY = [
    *map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)),
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xD800, 0xDFFF)),
]


@FORMATS
def test_nothing_that_was_sent_begins_a_line_or_steers_a_terminal(formatter: logging.Formatter) -> None:
    for letter in NASTY:
        told = formatter.format(record(f"a{letter}b", address=f"c{letter}d", trace=ValueError(f"e{letter}f")))
        assert [other for other in NASTY if other != "\n" and other in told] == []
        told.encode("utf-8")
        if letter == "\n":
            assert "\nf" not in told
            assert "\nb" not in told


def test_what_is_written_instead_says_what_it_was() -> None:
    told = record("a\x1b[31m\u202eb\nc", request_id="\x9b2\ud800")
    line = "1970-01-01 00:00:00 info    a\\x1b[31m\\u202eb\\nc request=\\x9b2\\ud800"
    told.created = 0
    assert HumanFormatter().format(told) == line
    read = json.loads(JsonFormatter().format(told))
    assert (read["message"], read["request_id"]) == ("a\\x1b[31m\\u202eb\\nc", "\\x9b2\\ud800")


def test_other_letters_stay() -> None:
    text = 'Țăran 日本語 👩‍👩‍👧 a\u00a0b \\ " %s'
    assert text in HumanFormatter().format(record(text))
    assert json.loads(JsonFormatter().format(record(text)))["message"] == text


def test_a_trace_stands_under_its_line_and_cannot_look_like_another() -> None:
    forged = "x\n2026-11-20 12:00:00 info    GET /api/articles 200"
    first, *rest = HumanFormatter().format(record("failed", trace=ValueError(forged))).split("\n")
    assert first.endswith(" failed")
    assert rest == ["  ValueError: x", f"  {forged.partition(chr(10))[2]}"]
    trace = json.loads(JsonFormatter().format(record("failed", trace=ValueError("x\ny"))))["trace"]
    assert trace == "ValueError: x\ny"


async def test_a_request_is_a_line_with_its_id_and_company(world: World, kept: Kept) -> None:
    answer = await world.send("GET", "/api/articles/1")
    (line,) = kept.objects
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

    monkeypatch.setattr("wmsd.warehouse.articles.store.one", broken)
    answer = await world.send("GET", "/api/articles/1")
    (trace,) = [formatter.format(record) for record in kept.records if record.exc_info]
    assert "RuntimeError: what went wrong" in trace
    assert answer.headers["X-Request-Id"] in trace
