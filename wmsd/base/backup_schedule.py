"""When a backup is due, and which are kept. Pure decisions.

Times are those of the box, as people read its clock. What was made is known by the archives themselves, so that a
clock that was set, or a server that did not run, makes no backup twice and forgets none.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import Final, Literal, NamedTuple

Every = Literal["never", "hour", "day"]
A_DAY: Final = timedelta(days=1)
LATE: Final = {"hour": timedelta(hours=3), "day": timedelta(hours=36)}
"""After which a backup is missed."""


class Keep(NamedTuple):
    """How many hours, days and weeks have a backup that is kept."""

    hourly: int
    daily: int
    weekly: int


def begin_of_period(every: Every, at: time, now: datetime) -> datetime:
    """When the period began that `now` is in: the hour, or the day from `at` on."""
    if every == "hour":
        return now.replace(minute=0, second=0, microsecond=0)
    today = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    return today if now >= today else today - A_DAY


def is_due(every: Every, at: time, now: datetime, made: Iterable[datetime]) -> bool:
    """Whether the period of now has no backup yet."""
    if every == "never":
        return False
    begin = begin_of_period(every, at, now)
    end = begin + (A_DAY if every == "day" else timedelta(hours=1))
    return not any(begin <= moment < end for moment in made)


def next_due(every: Every, at: time, now: datetime, made: Iterable[datetime]) -> datetime | None:
    """When the next backup is due: now, or with the next period; None: never."""
    if every == "never":
        return None
    if is_due(every, at, now, made):
        return now
    return begin_of_period(every, at, now) + (A_DAY if every == "day" else timedelta(hours=1))


def is_proof_due(every: Every, at: time, now: datetime, proven: datetime | None) -> bool:
    """Once a day, from `at` on."""
    begin = begin_of_period("day", at, now)
    return every != "never" and (proven is None or not begin <= proven < begin + A_DAY)


PERIODS: Final[dict[str, Callable[[datetime], object]]] = {
    "hourly": lambda moment: (moment.date(), moment.hour),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
}


def backups_to_keep(made: Sequence[datetime], keep: Keep, faulty: Collection[datetime] = ()) -> set[datetime]:
    """Which backups are kept: the newest, and the last one of each of the newest hours, days and weeks that have
    one. A faulty one is taken only where its hour, day or week has no other. Only their own moments count, not
    the clock.
    """
    newest_first = sorted(set(made), reverse=True)
    found = set(newest_first[:1])
    for name, period in PERIODS.items():
        last: dict[object, datetime] = {}
        for moment in newest_first:
            known = last.setdefault(period(moment), moment)
            if known in faulty and moment not in faulty:
                last[period(moment)] = moment
        found.update(list(last.values())[: getattr(keep, name)])
    return found
