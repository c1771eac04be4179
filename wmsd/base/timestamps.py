"""Timestamps: ISO 8601 UTC with milliseconds and `Z` (decisions, section 1)."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""Python also reads weeks, such as 2026-W01, and days without hyphens."""


@lru_cache(maxsize=16)
def to_text(moment: datetime) -> str:
    """`2026-11-20T13:25:00.123Z`; microseconds are cut, not rounded. Cached: the same moment is formatted many
    times.
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def for_file_name(moment: datetime) -> str:
    """As `to_text`, without what some file systems refuse: `2026-11-20T132500.123Z`."""
    return to_text(moment).replace(":", "")


def from_microseconds(value: int) -> str:
    """The text of so many microseconds since 1970."""
    return _of_milliseconds(value // 1000)


@lru_cache(maxsize=64)
def _of_milliseconds(value: int) -> str:
    return to_text(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value))


def day_of(text: str) -> date:
    """The day of a text such as `2026-11-20`. Raises ValueError."""
    if DAY.fullmatch(text) is None:
        raise ValueError("must be a date such as 2026-11-20")
    return date.fromisoformat(text)


def from_text(text: str) -> datetime:
    """The moment of a text with any offset, timezone-aware, in UTC. Raises ValueError with a sentence."""
    try:
        moment = datetime.fromisoformat("" if "W" in text else text)
    except ValueError:
        raise ValueError("must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("must say its offset from UTC, such as Z or +02:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is out of the range of dates") from None


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970, exact (a float's seconds are not)."""
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
