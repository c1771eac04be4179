"""The time zone of a page: what its person has chosen, or else that of the company, or of the installation.

What the API says is UTC. Here it becomes the time of the clocks there, and what people type becomes UTC.
"""

from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from wmsd.base.time_zones import MINUTE, SECOND, UTC_ZONE, day_in, local_minute, offset

DAY: Final = 10
"""Characters of a moment in ISO 8601 to there."""


class Here(NamedTuple):
    zone: ZoneInfo
    now: datetime


NOWHERE: Final = Here(UTC_ZONE, datetime(1970, 1, 1, tzinfo=UTC))
current: ContextVar[Here] = ContextVar("time_zone", default=NOWHERE)
"""Where the page that is made is read, and when."""


def begin(zone: ZoneInfo, now: datetime) -> None:
    current.set(Here(zone, now))


def use(zone: ZoneInfo) -> None:
    """Makes the rest of the page by the clocks there."""
    current.set(current.get()._replace(zone=zone))


def name() -> str:
    return current.get().zone.key or ""


def distance_from_utc() -> str:
    """How far the clocks are from UTC now, such as +02:00."""
    here = current.get()
    return offset(here.now.astimezone(here.zone))


def today() -> str:
    """The date, such as 2026-11-24."""
    here = current.get()
    return day_in(here.now, here.zone)


def local_text(text: str) -> str:
    """A moment of the API by the clocks of the page, in ISO 8601 without an offset, such as 2026-11-24T12:00:05. A
    date stays as it is.
    """
    zone = current.get().zone
    if len(text) <= DAY or zone is UTC_ZONE:
        return text[:SECOND]
    return local_minute(text[:MINUTE], zone).text + text[MINUTE:SECOND]


def which(text: str) -> str:
    """What stands beside the time of a moment of the API: its offset where the clocks show that time twice, or
    UTC, which no clock on a wall shows.
    """
    zone = current.get().zone
    if zone is UTC_ZONE:
        return " UTC"
    local = local_minute(text[:MINUTE], zone)
    return " UTC" if local.is_utc else local.twice and f" {local.twice}"


def to_api(typed: datetime) -> str:
    """A moment without an offset, by the clocks of the page. The first counts of a time that they show twice; one
    that they leap over is read as if they had not leapt yet. Raises ValueError beyond the range of dates.
    """
    try:
        return typed.replace(tzinfo=current.get().zone).astimezone(UTC).isoformat()
    except OverflowError:
        raise ValueError("is out of the range of dates") from None
