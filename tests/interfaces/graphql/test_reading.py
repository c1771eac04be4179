"""A long reply of an operation is read like a short one, and does not block other requests."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wmsd.interfaces.graphql import execution
from wmsd.interfaces.graphql.execution import BYTES_AT_ONCE, Execution, read
from wmsd.interfaces.graphql.shapes import Part, Shape

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.decimals(-1000, 1000, places=6).map(float)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
RECORDS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=5), max_size=6)
REST = st.dictionaries(st.sampled_from(["next_cursor", "meta", "as_of", "]"]), VALUES)


@pytest.fixture
def every_list_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "BYTES_AT_ONCE", 0)


@pytest.mark.usefixtures("every_list_is_long")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, rest=REST)
def test_it_says_the_same(records: list[Any], rest: dict[str, Any]) -> None:
    answer = {"data": records, **rest}
    assert asyncio.run(read(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())) == answer


async def turns_of_others_during(work: Coroutine[Any, Any, Any]) -> int:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(count())
    await work
    other.cancel()
    return turns


async def test_others_run_while_a_long_list_is_read() -> None:
    records = [{"id": number, "name": "x" * 1000} for number in range(3000)]
    body = json.dumps({"data": records}, separators=(",", ":")).encode()
    assert await turns_of_others_during(read(body)) >= len(body) // (2 * BYTES_AT_ONCE)


async def test_others_run_while_records_with_many_lines_are_laid_out() -> None:
    shape = Shape(names={"lines": "lines"}, parts=[Part("lines", "lines", True, Shape(names={"id": "id"}))])
    nobody: Any = None
    execution = Execution(nobody, nobody, nobody)
    records = [{"lines": [{"id": number} for number in range(1000)]} for _ in range(8)]
    assert await turns_of_others_during(execution._all(shape, records)) >= len(records) - 1


@pytest.mark.parametrize(
    "answer", [{"id": 1, "lines": ["x" * BYTES_AT_ONCE]}, {"data": {"id": "x" * BYTES_AT_ONCE}}]
)
async def test_what_is_no_list_is_read_whole(answer: Any) -> None:
    assert await read(json.dumps(answer).encode()) == answer
