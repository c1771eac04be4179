"""The time zone of a page. It is the choice of the user, or else the zone of the company or of the installation.

The API writes UTC. Pages show the local time of this zone, and convert times that people type to UTC.
"""

from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from wmsd.base.time_zones import MINUTE, SECOND, UTC_ZONE, day_in, local_minute, offset

DAY: Final = 10
"""The number of characters of the date in an ISO 8601 moment."""


class Here(NamedTuple):
    zone: ZoneInfo
    now: datetime


NOWHERE: Final = Here(UTC_ZONE, datetime(1970, 1, 1, tzinfo=UTC))
current: ContextVar[Here] = ContextVar("time_zone", default=NOWHERE)
"""The time zone and the time of the current page."""


def begin(zone: ZoneInfo, now: datetime) -> None:
    current.set(Here(zone, now))


def use(zone: ZoneInfo) -> None:
    """Use this time zone from now on, until the page is complete."""
    current.set(current.get()._replace(zone=zone))


def name() -> str:
    return current.get().zone.key or ""


def distance_from_utc() -> str:
    """Return the current offset of the time zone from UTC, such as +02:00."""
    here = current.get()
    return offset(here.now.astimezone(here.zone))


def today() -> str:
    """Return today's date in the time zone of the page, such as 2026-11-24."""
    here = current.get()
    return day_in(here.now, here.zone)


def local_text(text: str) -> str:
    """Convert a timestamp from the API to local time in the time zone of the page, such as 2026-11-24T12:00:05.

    The result is in ISO 8601 without an offset. Return a date unchanged.
    """
    zone = current.get().zone
    if len(text) <= DAY or zone is UTC_ZONE:
        return text[:SECOND]
    return local_minute(text[:MINUTE], zone).text + text[MINUTE:SECOND]


def which(text: str) -> str:
    """Return what a page writes after the local time of the moment `text`: ` UTC`, an offset or "".

    It is ` UTC` if the local time is UTC. It is the offset, such as ` +02:00`, if the clocks show this local time
    twice.
    """
    zone = current.get().zone
    if zone is UTC_ZONE:
        return " UTC"
    local = local_minute(text[:MINUTE], zone)
    return " UTC" if local.is_utc else local.twice and f" {local.twice}"


def to_api(typed: datetime) -> str:
    """Convert a local time in the time zone of the page to a moment in UTC. `typed` has no offset.

    If the clocks show the time twice, return the first moment. If the clocks skip the time, use the offset before
    the change. Raise ValueError if the date is out of range.
    """
    try:
        return typed.replace(tzinfo=current.get().zone).astimezone(UTC).isoformat()
    except OverflowError:
        raise ValueError("must be in the years 1 to 9999") from None
