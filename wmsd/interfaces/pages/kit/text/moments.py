"""Dates and times as people type and read them, in the time zone of the page (`zone.py`)."""

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
    """Return a date in ISO format, from a text such as `26.11.2026` or `26/11/2026`.

    Return any other text unchanged. The operation then reports the error.
    """
    found = DAY_FIRST.fullmatch(text.strip())
    if found is None:
        return text
    try:
        return date(int(found[4]), int(found[3]), int(found[1])).isoformat()
    except ValueError:
        return text


def of_browser(text: str) -> str:
    """Return a moment for the API, from a date or a local time without an offset.

    The field of a form sends such texts. Return any other text unchanged. The operation then reports the error.
    """
    try:
        moment = datetime.fromisoformat(iso_date(text))
        return text if moment.tzinfo else zone.to_api(moment)
    except ValueError:
        return text


def for_browser(text: str) -> str:
    """Return a moment of the API as local time to the minute, in the format that a form field needs."""
    return zone.local_text(text)[:MINUTE]


def written_day(text: str) -> str:
    """Return a date in the form 26.11.2026. Accept what `iso_date` accepts. Return any other text unchanged."""
    try:
        return date.fromisoformat(iso_date(text)).strftime("%d.%m.%Y")
    except ValueError:
        return text


def day(text: str, year: str) -> str:
    """Return the day of a moment or date of the API, such as `2 November`. Add the year if it is not `year`."""
    text = zone.local_text(text)
    of_month = f"{int(text[8:10])} {_(MONTHS[int(text[5:7]) - 1])}"
    return of_month if text[:4] == year else f"{of_month} {text[:4]}"


def year_of(text: str) -> str:
    """Return the year of a moment of the API, in the time zone of the page."""
    return zone.local_text(text)[:4]


def span(first: str, last: str, year: str) -> str:
    """Return a period of days, such as `between 3 and 20 November`, or `on 9 November` for one day."""
    from_day, to_day = day(first, year), day(last, year)
    if from_day == to_day:
        return _("on %(day)s") % {"day": to_day}
    if zone.local_text(first)[:7] == zone.local_text(last)[:7]:
        from_day = from_day.partition(" ")[0]
    return _("between %(first)s and %(last)s") % {"first": from_day, "last": to_day}


def month_before(moment: datetime) -> datetime:
    """Return the same day and time in the previous month. If that month is too short, return its last day."""
    last_of_month_before = moment.replace(day=1) - timedelta(days=1)
    days = monthrange(last_of_month_before.year, last_of_month_before.month)[1]
    return last_of_month_before.replace(day=min(moment.day, days))


def earlier(text: str, not_before: str) -> list[tuple[str, str]]:
    """Return the links to earlier stock. Each link is a text, such as "A day before", and a time.

    All times are before `text`. The last time is `not_before`, the time of the first movement. Return [] if `text`
    is not after `not_before`.
    """
    if text <= not_before:
        return []
    moment, first = timestamps.from_text(text), timestamps.from_text(not_before)
    steps = (
        (_("A day before"), moment - timedelta(days=1)),
        (_("A week before"), moment - timedelta(weeks=1)),
        (_("A month before"), month_before(moment)),
    )
    later = [(name, timestamps.to_text(step)) for name, step in steps if step > first]
    return [*later, (_("First movement"), not_before)]


def minutes(text: str) -> int:
    """Return a timestamp from the API as whole minutes since the beginning of 1970."""
    return moment_in_milliseconds(text) // 60_000


def moment_in_milliseconds(text: str) -> int:
    """Return a timestamp from the API as milliseconds since the beginning of 1970."""
    return (timestamps.from_text(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
