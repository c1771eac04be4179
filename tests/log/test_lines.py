"""Tests of reading the log back: every line is read, whatever anybody wrote into it."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.log.output import SHOWN, HumanFormatter, JsonFormatter
from wmsd.log.record import LogRecord, records

AT = datetime(2026, 11, 24, 12, 0, 1, tzinfo=UTC)
FIELDS: Final[dict[str, Any]] = {
    "company_id": "7",
    "user_id": "3",
    "token_id": "9",
    "address": "10.0.0.1",
    "request_id": "abc",
}
FORMATTERS = [HumanFormatter(), HumanFormatter(True), JsonFormatter(), JsonFormatter(True)]
EVERY = pytest.mark.parametrize("formatter", FORMATTERS, ids=["human", "human, local", "json", "json, local"])


def written(formatter: logging.Formatter, message: str, level: int = logging.INFO, **fields: Any) -> str:
    own = {"levelno": level, "levelname": logging.getLevelName(level), "created": AT.timestamp()}
    return formatter.format(logging.makeLogRecord({"msg": message, "args": (), "name": "x", **own, **fields}))


def read(text: str) -> LogRecord:
    (found,) = records(text.split("\n"))
    return found


@EVERY
def test_a_record_comes_back_as_it_was(formatter: logging.Formatter) -> None:
    found = read(written(formatter, "GET /api/articles 200 1.2 ms", logging.WARNING, **FIELDS))
    assert (found.at, found.level, found.message) == (AT, "warning", "GET /api/articles 200 1.2 ms")
    assert found.fields == FIELDS
    assert found.as_json()["time"] == "2026-11-24T12:00:01.000Z"


@EVERY
@given(st.text(max_size=80))
def test_no_message_makes_a_second_record_or_loses_the_fields(formatter: logging.Formatter, message: str) -> None:
    text = written(formatter, message, **FIELDS)
    found = read(text)
    assert found.text == text
    assert found.text.isprintable() or not any(ord(character) < 32 for character in found.text)
    assert {name: found.fields[name] for name in FIELDS} == FIELDS


@EVERY
def test_a_message_that_looks_like_fields_does_not_replace_them(formatter: logging.Formatter) -> None:
    found = read(written(formatter, "x company=1 request=forged", **FIELDS))
    assert found.fields == FIELDS


def test_the_trace_of_an_error_belongs_to_it() -> None:
    try:
        raise ValueError("x\n2026-11-24 12:00:02 error   forged")
    except ValueError as error:
        lines = written(HumanFormatter(), "failed", logging.ERROR, exc_info=(ValueError, error, None)).split("\n")
    first, second = records([*lines, "2026-11-24 12:00:03 info    next"])
    assert "forged" in first.text
    assert (first.level, second.message) == ("error", "next")
    assert "ValueError" in first.as_json()["trace"]


@pytest.mark.parametrize(
    "line", ["", "{", '{"level": 7}', "[]", '"x"', "{}", "Traceback:", "2026-99-99 99:99:99 info x", "\x1b[2J\x9b"]
)
def test_a_line_that_is_none_of_ours_is_shown_without_control_characters(line: str) -> None:
    found = read(line)
    assert found.text.isprintable() or found.text == ""
    json.dumps(found.as_json())
    assert found.is_at_least("error") is (found.level is None)


def test_no_more_for_now_ends_a_record() -> None:
    seen = list(
        records(iter(["2026-11-24 12:00:01 info    a", None, None, "2026-11-24 12:00:02 info    b", None]))
    )
    assert [each.message for each in seen] == ["a", "b"]


def test_every_field_of_a_line_is_known() -> None:
    assert set(FIELDS) == set(SHOWN)
