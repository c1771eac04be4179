"""Tests of timestamps: any offset is accepted, and UTC milliseconds are returned."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base import timestamps

moments = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=st.just(UTC))  # noqa: DTZ001  (hypothesis wants them naive)


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_every_offset_means_the_same_moment(moment: datetime, minutes: int) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert timestamps.from_text(elsewhere.isoformat()) == moment


@given(moments)
def test_milliseconds_are_cut(moment: datetime) -> None:
    text = timestamps.to_text(moment)
    assert text.endswith("Z")
    assert timedelta(0) <= moment - timestamps.from_text(text) < timedelta(milliseconds=1)


@given(moments)
def test_microseconds_are_exact(moment: datetime) -> None:
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=timestamps.microseconds(moment)) == moment


FORM = "must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"
OFFSET = "must have an offset from UTC, such as Z or +02:00"
RANGE = "must be in the years 1 to 9999"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2026-11-20T13:25:00", OFFSET),
        ("2026-11-20", OFFSET),
        ("yesterday", FORM),
        ("", FORM),
        ("2026-02-30T00:00Z", FORM),
        ("2026-W01-1T10:00:00Z", FORM),
        ("9999-12-31T23:59:59-14:00", RANGE),
    ],
)
def test_naive_and_impossible_moments_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        timestamps.from_text(text)


def test_what_comes_in_from_elsewhere_is_in_utc() -> None:
    assert timestamps.from_text("2026-11-20T13:25:00+02:00").tzinfo is UTC
