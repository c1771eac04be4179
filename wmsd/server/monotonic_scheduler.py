"""APScheduler on monotonic time.

By default, APScheduler uses the wall clock. If the wall clock is set forward, APScheduler lists every
missed run. For a step of 180 days and a run each half second, this takes minutes. If the wall clock is set
back, no job runs until the clock reaches the previous time again.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from apscheduler.triggers.base import BaseTrigger

BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)


class MonotonicTime(tzinfo):
    """A time zone whose time is the uptime of the machine. APScheduler gets the current time only from its time
    zone.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, dt: datetime | None) -> str:
        return "monotonic"

    def fromutc(self, dt: datetime) -> datetime:
        return BEGINNING.replace(tzinfo=self) + timedelta(seconds=self._monotonic())


class Every(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """A trigger that fires a number of seconds after the last run. Missed runs are not repeated."""

    def __init__(self, seconds: float) -> None:
        self._interval = timedelta(seconds=seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        return now + self._interval
