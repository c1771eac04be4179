"""Moments and dates as people write and read them, by the clocks of the page (`zone.py`)."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.time_zones import MINUTE
from wmsd.interfaces.pages.kit.text import zone
from wmsd.interfaces.pages.kit.text.language import translate_text as _

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


DAY_FIRST: Final = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})", re.ASCII)


def iso_date(text: str) -> str:
    """A date as people write it, such as `26.11.2026` or `26/11/2026`, as the API reads it. What is no such date
    stays as it is: the operation says what is wrong.
    """
    found = DAY_FIRST.fullmatch(text.strip())
    if found is None:
        return text
    try:
        return date(int(found[4]), int(found[3]), int(found[1])).isoformat()
    except ValueError:
        return text


def of_browser(text: str) -> str:
    """A moment as a browser's field sends it, without an offset, or a date, as the API reads it. What is neither
    stays as it is: the operation says what is wrong.
    """
    try:
        moment = datetime.fromisoformat(iso_date(text))
        return text if moment.tzinfo else zone.to_api(moment)
    except ValueError:
        return text


def for_browser(text: str) -> str:
    """A moment of the API as a browser's field shows it: to the minute."""
    return zone.local_text(text)[:MINUTE]


def written_day(text: str) -> str:
    """A day in one form, such as 26.11.2026, however it is written. What is no day stays as it is."""
    try:
        return date.fromisoformat(iso_date(text)).strftime("%d.%m.%Y")
    except ValueError:
        return text


def day(text: str, year: str) -> str:
    """The day of a moment of the API, or a date, such as `2 November`; with its year unless it is of that year."""
    text = zone.local_text(text)
    of_month = f"{int(text[8:10])} {_(MONTHS[int(text[5:7]) - 1])}"
    return of_month if text[:4] == year else f"{of_month} {text[:4]}"


def year_of(text: str) -> str:
    """That of a moment of the API."""
    return zone.local_text(text)[:4]


def span(first: str, last: str, year: str) -> str:
    """From when to when, such as `between 3 and 20 November`, or `on 9 November`."""
    from_day, to_day = day(first, year), day(last, year)
    if from_day == to_day:
        return _("on %(day)s") % {"day": to_day}
    if zone.local_text(first)[:7] == zone.local_text(last)[:7]:
        from_day = from_day.partition(" ")[0]
    return _("between %(first)s and %(last)s") % {"first": from_day, "last": to_day}


def month_before(moment: datetime) -> datetime:
    """The same day and time of the month before, or its last day if it is shorter."""
    last_of_month_before = moment.replace(day=1) - timedelta(days=1)
    days = monthrange(last_of_month_before.year, last_of_month_before.month)[1]
    return last_of_month_before.replace(day=min(moment.day, days))


def earlier(text: str, not_before: str) -> list[tuple[str, str]]:
    """What one may go back to from a moment: what it is called, and the moment."""
    if text <= not_before:
        return []
    moment, first = timestamps.from_text(text), timestamps.from_text(not_before)
    steps = (
        (_("A day before"), moment - timedelta(days=1)),
        (_("A week before"), moment - timedelta(weeks=1)),
        (_("A month before"), month_before(moment)),
    )
    later = [(name, timestamps.to_text(step)) for name, step in steps if step > first]
    return [*later, (_("The beginning"), not_before)]


def minutes(text: str) -> int:
    """Since 1970, whole ones."""
    return moment_in_milliseconds(text) // 60_000


def moment_in_milliseconds(text: str) -> int:
    """Since 1970."""
    return (timestamps.from_text(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
