"""When a backup is due, and which are kept. Pure decisions.

Times are those of the box, as people read its clock. What was made is known by the archives themselves, so that a
clock that was set, or a server that did not run, makes no backup twice and forgets none.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta
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
    """Whether the period of now has no backup yet. All moments are by the clock of the box, each with the offset
    that it had then.
    """
    if every == "never":
        return False
    if every == "day":
        return not any(_is_of_today(at, now, moment) for moment in made)
    begin = begin_of_period(every, at, now)
    return not any(begin <= moment < begin + timedelta(hours=1) for moment in made)


def _is_of_today(at: time, now: datetime, made: datetime) -> bool:
    """In the night in which clocks are set back, what was made before now may be of the next day by the clock."""
    today, day = _day_of(at, now), _day_of(at, made)
    return day == today or (day > today and made.timestamp() <= now.timestamp())


def _day_of(at: time, moment: datetime) -> date:
    """The day that a moment belongs to, from `at` on, as people read the clock."""
    return (moment.replace(tzinfo=None) - timedelta(hours=at.hour, minutes=at.minute)).date()


def next_due(every: Every, at: time, now: datetime, made: Iterable[datetime]) -> datetime | None:
    """When the next backup is due: now, or with the next period; None: never."""
    if every == "never":
        return None
    if is_due(every, at, now, made):
        return now
    return begin_of_period(every, at, now) + (A_DAY if every == "day" else timedelta(hours=1))


def is_proof_due(every: Every, at: time, now: datetime, proven: datetime | None) -> bool:
    """Once a day, from `at` on."""
    return every != "never" and is_due("day", at, now, [] if proven is None else [proven])


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
