"""Time zones of the pinned `tzdata`, never of the machine: every installation has the same rules."""

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

PACKED: Final = files("wmsd") / "time_zones"
"""The folder into which wmsd.spec puts the data, because an executable does not contain the `tzdata` package."""
UTC_NAME: Final = "UTC"
NO_PLACE: Final = frozenset({"Factory", "localtime"})
"""Names in tzdata that are not time zones."""
MOST_NEAR: Final = 3
HOUR: Final = 13
MINUTE: Final = 16
SECOND: Final = 19
"""`HOUR`, `MINUTE` and `SECOND` are lengths of ISO 8601 texts. For example, the first `HOUR` characters of a time
end with its hour.
"""
LONGEST_NAME: Final = 64


class TimeZoneError(ValueError):
    """The error for an unknown time zone. The caller puts the field's name before the message: "is not
    known; …".
    """


@cache
def names() -> frozenset[str]:
    """Return the names of all time zones, including former ones."""
    return frozenset(_data().joinpath("zones").read_text(encoding="ascii").split()) - NO_PLACE


@cache
def places() -> Sequence[str]:
    """Return the names that users choose from: one for each place, such as Europe/Bucharest, and UTC."""
    lines = _data().joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8").splitlines()
    return [*sorted(line.split("\t")[2] for line in lines if not line.startswith("#")), UTC_NAME]


def time_zone(name: str) -> ZoneInfo:
    """Return the time zone with this name. Raise TimeZoneError with the nearest names if the name is unknown."""
    if name not in names():
        near = near_names(name)
        raise TimeZoneError(
            f"is not known; the nearest is {', '.join(near)}"
            if near
            else "is not known; write one such as Europe/Bucharest"
        )
    return _loaded(name)


def time_zone_of(default: ZoneInfo, *chosen: str | None) -> ZoneInfo:
    """Return the time zone of the first known name in `chosen`. Return `default` if none of the names is known.

    A name may be unknown if a newer version of wmsd has stored it.
    """
    return next((_loaded(name) for name in chosen if name in names()), default)


def check_name(name: str) -> str:
    """Return the name if it is empty or a time zone. Raise TimeZoneError otherwise."""
    return name if name == "" else time_zone(name).key


def near_names(name: str) -> list[str]:
    """Return the names that may have been meant, the nearest first.

    A name is also found by its city alone and without regard to case.
    """
    asked = name[:LONGEST_NAME].casefold().replace(" ", "_").strip("_")
    by_small = {each.casefold(): each for each in sorted(names())}
    cities = {each.rpartition("/")[2].casefold(): each for each in places()}
    if asked in by_small:
        return [by_small[asked]]
    if asked in cities:
        return [cities[asked]]
    found = [
        *difflib.get_close_matches(asked, [each.casefold() for each in places()], MOST_NEAR, 0.7),
        *difflib.get_close_matches(asked, by_small, MOST_NEAR, 0.7),
    ]
    near = [by_small[each] for each in found] or [
        cities[each] for each in difflib.get_close_matches(asked, cities, MOST_NEAR, 0.75)
    ]
    return list(dict.fromkeys(near))[:MOST_NEAR]


def day_in(moment: datetime, zone: ZoneInfo) -> str:
    """Return the date of a moment in this time zone, such as 2026-11-24."""
    return moment.astimezone(zone).date().isoformat()


def offset(moment: datetime) -> str:
    """Return the offset of a moment from UTC, such as +02:00."""
    return f"{moment:%z}"[:3] + ":" + f"{moment:%z}"[3:5]


class Local(NamedTuple):
    """A local time, as clocks in a time zone show it."""

    text: str
    """The time in ISO 8601 without an offset, to the minute, such as 2026-11-24T12:00."""
    twice: str
    """The offset, such as +02:00, if clocks show this local time twice because summer time ends. Otherwise empty.
    """
    is_utc: bool


def local_minute(text: str, zone: ZoneInfo) -> Local:
    """Convert a UTC time to the local time in `zone`. `text` is in ISO 8601 to the minute, such as
    2026-11-24T10:00.

    Some offsets before 1973 have seconds. Their seconds are cut.
    """
    hour = _local_hour(text[:HOUR], zone)
    if hour is None:
        return _converted(text, zone)
    return Local(hour.text[:HOUR] + text[HOUR:], hour.twice, hour.is_utc)


@lru_cache(8192)
def _local_hour(text: str, zone: ZoneInfo) -> Local | None:
    """Return the local time in `zone` at which an hour of UTC begins. `text` is this hour, such as 2026-11-24T10.

    Return None if the local hour or the offset changes within this hour. For example, the local hour changes if
    the offset includes half an hour. The result is cached, because files contain the same hours again and again.
    """
    first, last = _converted(f"{text}:00", zone), _converted(f"{text}:59", zone)
    is_even = first._replace(text=f"{first.text[:HOUR]}:59") == last and first.text.endswith(":00")
    return first if is_even else None


def _converted(text: str, zone: ZoneInfo) -> Local:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC).astimezone(zone)
    except OverflowError:  # at the ends of the range of dates
        return Local(text, "", True)
    is_twice = moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()
    shown = moment.replace(tzinfo=None).isoformat(timespec="minutes")
    return Local(shown, offset(moment) if is_twice else "", moment.tzname() == UTC_NAME)


def for_spreadsheets(text: str | None, zone: ZoneInfo) -> str:
    """Convert a UTC time of the API to a local time that spreadsheets can read, such as 2026-11-24 12:00:05.

    If clocks show this local time twice, append the offset. Return "" for None.
    """
    if text is None:
        return ""
    local = local_minute(text[:MINUTE], zone)
    return f"{local.text.replace('T', ' ')}{text[MINUTE:SECOND]}{local.twice}"


@cache
def _loaded(name: str) -> ZoneInfo:
    with _data().joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def _data() -> Traversable:
    return PACKED if PACKED.is_dir() else files("tzdata")


UTC_ZONE: Final = _loaded(UTC_NAME)
