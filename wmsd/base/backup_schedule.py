"""The schedule of backups: when a backup is due, and which backups to keep. All functions are pure.

All times are local times of the machine. wmsd reads the times of existing backups from the archives, and does not
store them anywhere else. Therefore a changed clock or a stopped server causes no missing or duplicate backup.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, Literal, NamedTuple

Every = Literal["never", "hour", "day"]
A_DAY: Final = timedelta(days=1)
LATE: Final = {"hour": timedelta(hours=3), "day": timedelta(hours=36)}
"""If the last backup is older than this, the next backup counts as missed. The keys are values of `Every`."""


class Keep(NamedTuple):
    """How many hourly, daily and weekly backups to keep."""

    hourly: int
    daily: int
    weekly: int


def begin_of_period(every: Every, at: time, now: datetime) -> datetime:
    """Return the time at which the current period began: the current hour, or the day that starts at `at`.

    All values of `every` except "hour" mean a day.
    """
    if every == "hour":
        return now.replace(minute=0, second=0, microsecond=0)
    today = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    return today if now >= today else today - A_DAY


def is_due(every: Every, at: time, now: datetime, made: Iterable[datetime]) -> bool:
    """Return True if the current period has no backup yet.

    `made` holds the times of the backups. All times are local, each with the offset from UTC at that time.
    """
    if every == "never":
        return False
    if every == "day":
        return not any(_is_of_today(at, now, moment) for moment in made)
    begin = begin_of_period(every, at, now)
    return not any(begin <= moment < begin + timedelta(hours=1) for moment in made)


def _is_of_today(at: time, now: datetime, made: datetime) -> bool:
    """Return True if `made`, the time of a backup, belongs to the current day.

    When clocks are set back at night, an earlier backup can have a later local date than `now`. Such a backup
    belongs to the current day too.
    """
    today, day = _day_of(at, now), _day_of(at, made)
    return day == today or (day > today and made.timestamp() <= now.timestamp())


def _day_of(at: time, moment: datetime) -> date:
    """Return the date of the day to which `moment` belongs. Each day starts at the local time `at`."""
    return (moment.replace(tzinfo=None) - timedelta(hours=at.hour, minutes=at.minute)).date()


def next_due(every: Every, at: time, now: datetime, made: Iterable[datetime]) -> datetime | None:
    """Return the time of the next backup. The result is `now` if a backup is due, otherwise the start of the next
    period. Return None if `every` is "never".
    """
    if every == "never":
        return None
    if is_due(every, at, now, made):
        return now
    return begin_of_period(every, at, now) + (A_DAY if every == "day" else timedelta(hours=1))


def is_proof_due(every: Every, at: time, now: datetime, proven: datetime | None) -> bool:
    """Return True if a backup must be verified now, because none was verified since the current day began.

    A day begins at the local time `at`. `proven` is the time of the last verification, or None. Return False if
    `every` is "never".
    """
    return every != "never" and is_due("day", at, now, [] if proven is None else [proven])


PERIODS: Final[dict[str, Callable[[datetime], object]]] = {
    "hourly": lambda moment: (moment.date(), moment.hour),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
}


def backups_to_keep(made: Sequence[datetime], keep: Keep, faulty: Collection[datetime] = ()) -> set[datetime]:
    """Return the times of the backups to keep: the newest backup, and the last one of each period to keep.

    The periods are hours, days and weeks, and `keep` has the number of each. Only periods with a backup count.
    `faulty` are the times of damaged backups. A damaged backup is kept only if its period has no other backup.
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
