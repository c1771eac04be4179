"""Timestamps: ISO 8601 UTC with milliseconds and `Z` (decisions, section 1)."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""The pattern of a date. Python's own parser is not enough: it also accepts weeks, such as 2026-W01, and dates
without hyphens.
"""


@lru_cache(maxsize=16)
def to_text(moment: datetime) -> str:
    """Return a moment as text, such as `2026-11-20T13:25:00.123Z`. Microseconds are cut, not rounded.

    The result is cached, because the same moment is formatted many times.
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def for_file_name(moment: datetime) -> str:
    """Return a moment as text that every file system accepts in a file name: `2026-11-20T132500.123Z`."""
    return to_text(moment).replace(":", "")


def from_microseconds(value: int) -> str:
    """Return a number of microseconds since 1970 as text."""
    return _of_milliseconds(value // 1000)


@lru_cache(maxsize=64)
def _of_milliseconds(value: int) -> str:
    return to_text(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value))


def day_of(text: str) -> date:
    """Return the day of a text such as `2026-11-20`. Raise ValueError if the text is no day."""
    if DAY.fullmatch(text) is None:
        raise ValueError("must be a date such as 2026-11-20")
    return date.fromisoformat(text)


def from_text(text: str) -> datetime:
    """Return the moment of an ISO 8601 text with any offset, as a timezone-aware datetime in UTC.

    Raise ValueError with a sentence if the text is no date and time, has no offset, or is out of range.
    """
    try:
        moment = datetime.fromisoformat("" if "W" in text else text)
    except ValueError:
        raise ValueError("must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("must have an offset from UTC, such as Z or +02:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 1 to 9999") from None


def microseconds(moment: datetime) -> int:
    """Return a moment in microseconds since 1970. The result is exact, unlike a float of seconds."""
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
