"""What an import is made of: rows by chunks, errors by row and column, and what a file gives twice."""

from wmsd.base.importing import CHUNK, CellError, FirstSeen, ImportRefused, Outcome, chunks, missing


def test_an_outcome_counts_its_rows_and_keeps_every_error() -> None:
    outcome = Outcome(created=1, updated=20, unchanged=300)
    assert outcome.rows == 321
    outcome.refuse(2, {"code": ["is required", "is wrong"], "name": ["is long"]})
    outcome.refuse(3, {"code": ["is required"]})
    assert outcome.errors == [
        CellError(2, "code", "is required"),
        CellError(2, "code", "is wrong"),
        CellError(2, "name", "is long"),
        CellError(3, "code", "is required"),
    ]
    refused = ImportRefused(outcome)
    assert (str(refused), refused.outcome) == ("4 errors", outcome)


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
