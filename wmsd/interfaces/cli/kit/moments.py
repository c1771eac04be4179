"""Reads points in time on the command line. A user can type an age such as 30m, a day, or a time with its offset
from UTC.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

import click

from wmsd.base import timestamps

AGO: Final = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FORMS: Final = "how long ago, such as 30m, 1h or 2d; a day (UTC); or a date and time, such as 2026-11-20T13:25:00Z"


def read(text: str, now: datetime) -> datetime:
    """Return the moment that the text gives. An age such as `30m` is subtracted from `now`. A day means its
    beginning in UTC.

    Raise ValueError or OverflowError if the text is not a moment.
    """
    if ago := AGO.fullmatch(text):
        return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
    if timestamps.DAY.fullmatch(text):
        return datetime.combine(timestamps.day_of(text), time(), UTC)
    return timestamps.from_text(text)


class Moment(click.ParamType[datetime]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return read(str(value), datetime.now(UTC))
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time. Give how long ago, such as 90s, 30m, 1h, 2d or 1w; a day, such as "
                "2026-11-20, which begins at midnight UTC; or a date and time with a UTC offset, such as "
                "2026-11-20T13:25:00Z.",
                param,
                ctx,
            )


def moment_option(name: str, help_text: str) -> Callable[[Any], Any]:
    """Return an option for a point in time.

    The command receives the time as text, in the format of timestamps in records. In this format, an earlier time
    is also the smaller text.
    """
    return click.option(name, type=Moment(), metavar="TIME", callback=_as_text, help=f"{help_text}: {FORMS}.")


def _as_text(context: click.Context, parameter: click.Parameter, moment: datetime | None) -> str | None:
    return None if moment is None else timestamps.to_text(moment)
