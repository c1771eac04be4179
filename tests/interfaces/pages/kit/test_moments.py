"""Times in the form that people read."""

import pytest

from wmsd.interfaces.pages.kit.text.moments import earlier, iso_date, of_browser, span


def moment(text: str) -> str:
    return f"{text}T10:00:00.000Z"


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("2026-11-09", "2026-11-09", "on 9 November"),
        ("2026-11-03", "2026-11-20", "between 3 and 20 November"),
        ("2026-10-28", "2026-11-03", "between 28 October and 3 November"),
        ("2025-12-30", "2026-01-02", "between 30 December 2025 and 2 January"),
        ("2025-11-03", "2025-11-04", "between 3 and 4 November 2025"),
    ],
)
def test_a_span_says_no_more_than_it_must(first: str, last: str, told: str) -> None:
    assert span(moment(first), moment(last), "2026") == told


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("26.11.2026", "2026-11-26"),
        ("26/11/2026", "2026-11-26"),
        (" 3.4.2026 ", "2026-04-03"),
        ("29.02.2028", "2028-02-29"),
        ("2026-11-26", "2026-11-26"),
    ],
)
def test_a_date_is_taken_as_people_write_it(typed: str, meant: str) -> None:
    assert iso_date(typed) == meant


@pytest.mark.parametrize(
    "typed", ["", "31.11.2026", "11/26/2026", "26.11/2026", "26.11.26", "0.1.2026", "1.1.0000"]
)
def test_what_is_no_date_stays_as_it_is_typed(typed: str) -> None:
    assert iso_date(typed) == typed


def test_a_date_alone_is_the_moment_in_which_it_begins() -> None:
    assert of_browser("26.11.2026") == of_browser("2026-11-26") == "2026-11-26T00:00:00+00:00"


def test_one_goes_back_to_the_beginning_and_no_further() -> None:
    begun = moment("2026-03-25")
    assert [(name, at[:10]) for name, at in earlier(moment("2026-05-31"), begun)] == [
        ("A day before", "2026-05-30"),
        ("A week before", "2026-05-24"),
        ("A month before", "2026-04-30"),
        ("First movement", "2026-03-25"),
    ]
    assert [name for name, _ in earlier(moment("2026-03-27"), begun)] == ["A day before", "First movement"]
    assert earlier(begun, begun) == []
    assert earlier("0001-01-01T00:00:00.000Z", begun) == []


@pytest.mark.parametrize(
    "text",
    ["2026-11-02T10:00Z", "2026-11-02T10:00+02:00", "2026-11-02T10:00-02:00", "2026-11-02T10:00 02:00", "x"],
)
def test_what_says_its_offset_or_is_none_is_left_as_it_is(text: str) -> None:
    assert of_browser(text) == text


@pytest.mark.parametrize("text", ["2026-11-02", "2026-11-02T00:00", "2026-11-02 00:00:00.000"])
def test_what_says_no_offset_is_in_utc(text: str) -> None:
    assert of_browser(text) == "2026-11-02T00:00:00+00:00"
