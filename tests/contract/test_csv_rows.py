"""Tests of the parts of an import: rows in chunks, errors by row and column, and values that a file contains
twice.
"""

import random
import tracemalloc
from collections.abc import Iterable

import pytest

from wmsd.contract.bulk_imports import (
    CHUNK,
    MOST_ERRORS,
    CellError,
    Errors,
    FirstSeen,
    ImportRefused,
    Outcome,
    chunks,
    missing,
)


def test_an_outcome_counts_its_rows_and_keeps_the_first_error_of_each_cell() -> None:
    outcome = Outcome(created=1, updated=20, unchanged=300)
    assert outcome.rows == 321
    outcome.refuse(2, {"code": ["is required", "is wrong"], "name": ["is long"]})
    outcome.refuse(3, {"code": ["is required"]})
    assert outcome.errors.first == [
        CellError(2, "code", "is required"),
        CellError(2, "name", "is long"),
        CellError(3, "code", "is required"),
    ]
    refused = ImportRefused(outcome)
    assert (str(refused), refused.outcome) == ("3 errors", outcome)


def errors_of(lines: Iterable[int], column: str = "code") -> Errors:
    errors = Errors()
    for line in lines:
        errors.add(CellError(line, column, f"is wrong in {line}"))
    return errors


def test_the_first_errors_are_kept_in_whatever_order_they_come_and_all_are_counted() -> None:
    lines = list(range(2, 10_002))
    random.Random(1).shuffle(lines)
    errors = errors_of([*lines, *lines])
    for line in (9, 10_001):
        errors.add(CellError(line, "name", "is long"))
    assert errors.in_all == 10_002
    first = [(each.line, each.column) for each in errors.first]
    assert first == sorted([*((line, "code") for line in range(2, 2 + MOST_ERRORS - 1)), (9, "name")])
    assert (errors.has(10_001, "name"), errors.has(10_000, "name"), errors.has(1, "code")) == (True, False, False)
    assert not Errors()


@pytest.mark.parametrize(("own", "theirs"), [(10, 20), (5000, 20), (20, 5000), (5000, 5000), (1500, 1500), (0, 7)])
def test_errors_of_two_readings_are_together_as_if_it_had_been_one(own: int, theirs: int) -> None:
    mine, others = range(2, 2 + own), range(2 + own // 2, 2 + own // 2 + theirs)
    errors = errors_of(mine)
    errors.take(errors_of(others))
    assert (errors.in_all, errors.first) == (len({*mine, *others}), errors_of(sorted({*mine, *others})).first)
    errors.add(CellError(1, "name", "is first"))
    assert (errors.first[0].sentence, errors.in_all) == ("is first", len({*mine, *others}) + 1)
    assert errors_of(mine).cells_in_common(errors_of(others)) == len({*mine} & {*others})
    assert errors_of(mine).cells_in_common(errors_of(others, "name")) == 0


def test_an_error_that_is_only_counted_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        errors = errors_of(range(2, 200_002))
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (errors.in_all, len(errors.first)) == (200_000, MOST_ERRORS)
    assert taken < 1_000_000


def test_the_line_where_something_was_given_before() -> None:
    seen = FirstSeen()
    given = [("A", 2), ("B", 3), ("A", 4), ("A", 5), ("B", 3), (("A", 1), 6)]
    assert [seen.line_before(key, line) for key, line in given] == [None, None, 2, 2, None, None]


def test_items_come_in_chunks() -> None:
    assert [*chunks(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [*chunks(range(6), 3)] == [[0, 1, 2], [3, 4, 5]]
    assert [*chunks([], 3)] == []
    assert [len(chunk) for chunk in chunks(iter(range(CHUNK + 1)))] == [CHUNK, 1]


def test_what_is_missing_is_told_by_name() -> None:
    assert missing(["code", "name", "unit"], {"name": None}) == {"code": ["is required"], "unit": ["is required"]}
    assert missing(["name"], {"name": ""}) == {}
