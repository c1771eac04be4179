"""Tests of cells as European spreadsheets write them: read as they are meant, or refused with an error."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd import docs
from wmsd.base.spreadsheet_cells import (
    DAMAGED,
    NO_OFFSET,
    SLASHES,
    TRUTH,
    read_date,
    read_flag,
    read_moment,
    read_name,
)


@pytest.mark.parametrize("words", TRUTH.values())
def test_truth_values_in_any_case(words: tuple[str, str]) -> None:
    for word, meant in zip(words, (True, False), strict=True):
        assert [read_flag(each) for each in (word, word.upper(), f" {word.title()} ")] == [meant] * 3


def test_the_guide_names_each_word() -> None:
    page = (Path(docs.__file__).parent / "importing.md").read_text(encoding="utf-8").lower()
    missing = [word for words in TRUTH.values() for word in words if f"`{word}`" not in page]
    assert missing == ["adevarat"]  # typed without its diacritic mark


def test_no_word_is_both() -> None:
    assert not {true for true, _ in TRUTH.values()} & {false for _, false in TRUTH.values()}
    assert read_flag("adeva\u0306rat")  # the letter and its mark as separate characters


@given(st.dates())
def test_a_date_with_dots_has_the_day_first(day: date) -> None:
    for text in (f"{day.day}.{day.month}.{day.year:04}", f"{day:%d.%m.}{day.year:04}", day.isoformat()):
        assert read_date(f" {text} ") == day.isoformat()


DATES = {
    "31/12/2026": SLASHES,
    "4/5/2026": SLASHES,
    "2026/12/31": SLASHES,
    "31.13.2026": "must be a date that exists, such as 31.12.2026",
    "30.02.2026": "must be a date that exists, such as 31.12.2026",
    "0.1.2026": "must be a date that exists, such as 31.12.2026",
}


@pytest.mark.parametrize("cell", DATES)
def test_a_date_that_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match=DATES[cell]):
        read_date(cell)


@pytest.mark.parametrize("cell", ["31.12.26", "2026-12-31", "today", "31.12.2026 10:00", "", "\u0661.1.2026"])
def test_what_is_no_date_of_a_spreadsheet_stays_for_the_field_to_judge(cell: str) -> None:
    assert read_date(cell) == cell


MOMENTS = {
    "24.11.2026 10:00+02:00": "2026-11-24T10:00:00+02:00",
    "24.11.2026 9:05 +0200": "2026-11-24T09:05:00+02:00",
    "1.2.2026 10:00:30.5Z": "2026-02-01T10:00:30.500000+00:00",
    "24.11.2026T23:59:59-05:30": "2026-11-24T23:59:59-05:30",
    "2026-11-24T10:00:00Z": "2026-11-24T10:00:00Z",
    "soon": "soon",
}


@pytest.mark.parametrize("cell", MOMENTS)
def test_a_moment(cell: str) -> None:
    assert read_moment(cell) == MOMENTS[cell]


REFUSED_MOMENTS = {
    "24.11.2026 10:00": NO_OFFSET,
    "24.11.2026": "must be a date and time, such as",
    "24.11.2026 noon": "must be a date and time, such as",
    "24.11.2026 25:00Z": "must be a date and time that exist",
    "24.11.2026 10:00+99:00": "must be a date and time that exist",
    "24/11/2026 10:00": SLASHES,
}


@pytest.mark.parametrize("cell", REFUSED_MOMENTS)
def test_a_moment_that_is_refused(cell: str) -> None:
    with pytest.raises(ValueError) as raised:
        read_moment(cell)
    assert str(raised.value).startswith(REFUSED_MOMENTS[cell])


@given(st.text("0123456789./:+- TZ", max_size=30))
def test_any_cell_is_read_or_refused_with_a_sentence(cell: str) -> None:
    for read in (read_date, read_moment, read_name):
        try:
            assert isinstance(read(cell), str)
        except ValueError as error:
            assert not str(error).endswith(".")


@pytest.mark.parametrize("cell", ["4,00638E+12", "4.00638E+12", "4E+12", "-1,5e-03", " 2E+05 "])
def test_a_code_that_a_spreadsheet_has_shortened_is_refused(cell: str) -> None:
    with pytest.raises(ValueError) as raised:
        read_name(cell)
    assert str(raised.value) == DAMAGED


@pytest.mark.parametrize("cell", ["4006381333931", "1E5", "E+12", "4,00638", "A4E+12", "4E+", "4E+12-B"])
def test_another_code_stays(cell: str) -> None:
    assert read_name(cell) == cell
