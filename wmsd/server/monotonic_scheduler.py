"""Runs APScheduler on monotonic time.

By itself it uses the wall clock. When that is set forward, it lists every run that was missed, which takes minutes
for a tick of half a second and 180 days. When it is set back, it waits until the old time comes again.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from apscheduler.triggers.base import BaseTrigger

BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)


class MonotonicTime(tzinfo):
    """A time zone that tells how long the machine has run. APScheduler asks only its time zone for the time."""

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
    """Runs a number of seconds after the last run. Missed runs are not made up for."""

    def __init__(self, seconds: float) -> None:
        self._interval = timedelta(seconds=seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        return now + self._interval
