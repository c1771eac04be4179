"""Tests of time zones: they come from the pinned tzdata, and an unknown name is refused with the nearest known
name.
"""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from wmsd.base import time_zones
from wmsd.base.time_zones import TimeZoneError, day_in, near_names, time_zone, time_zone_of

BUCHAREST = time_zone("Europe/Bucharest")
HONOLULU = time_zone("Pacific/Honolulu")


def test_every_name_of_tzdata_can_be_used() -> None:
    names = time_zones.names()
    assert {"Europe/Bucharest", "UTC", "Etc/UTC", "America/New_York"} <= names
    assert "Factory" not in names
    assert {time_zone(each).key for each in names} == names


def test_people_choose_from_places_that_can_all_be_used() -> None:
    places = time_zones.places()
    assert set(places) <= time_zones.names()
    assert len(places) == len(set(places)) > 400
    assert "Europe/Bucharest" in places
    assert "EST5EDT" not in places


def test_the_files_of_the_machine_are_not_read() -> None:
    """Python alone would prefer the machine's files to the package, with other rules on each machine."""
    script = (
        "import sys; opened = [];"
        "sys.addaudithook(lambda name, given: name == 'open' and opened.append(str(given[0])));"
        "from wmsd.base.time_zones import time_zone; print(time_zone('Europe/Bucharest').key);"
        "print(sum('zoneinfo' in each and 'tzdata' in each for each in opened),"
        " sum(each.startswith('/usr/share/zoneinfo') for each in opened))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert said[0] == "Europe/Bucharest"
    assert int(said[1]) >= 1
    assert said[2] == "0"


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("Europe/Bucarest", "Europe/Bucharest"),
        ("europe/bucharest", "Europe/Bucharest"),
        ("Bucharest", "Europe/Bucharest"),
        ("Bucuresti", "Europe/Bucharest"),
        ("New York", "America/New_York"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(typed: str, nearest: str) -> None:
    assert near_names(typed)[0] == nearest
    with pytest.raises(TimeZoneError, match=f"is not known; the nearest is {nearest}"):
        time_zone(typed)


@pytest.mark.parametrize(
    "typed", ["+02:00", "../../etc/passwd", "zone.tab", "Factory", "x" * 10_000, "\0", "București"]
)
def test_a_name_that_is_like_none_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(TimeZoneError, match="is not known; write one such as Europe/Bucharest"):
        time_zone(typed)


def test_the_first_choice_counts_and_a_name_that_is_unknown_here_is_left_out() -> None:
    assert time_zone_of(BUCHAREST) is BUCHAREST
    assert time_zone_of(BUCHAREST, None, "Pacific/Honolulu") is HONOLULU
    assert time_zone_of(BUCHAREST, "Pacific/Honolulu", "UTC") is HONOLULU
    assert time_zone_of(BUCHAREST, "Mars/Olympus_Mons", None) is BUCHAREST


def test_a_day_ends_at_midnight_there() -> None:
    before, after = datetime(2026, 11, 24, 21, 59, 59, tzinfo=UTC), datetime(2026, 11, 24, 22, tzinfo=UTC)
    assert day_in(before, BUCHAREST) == "2026-11-24"
    assert day_in(after, BUCHAREST) == "2026-11-25"
    assert day_in(datetime(2026, 11, 24, 9, 59, tzinfo=UTC), HONOLULU) == "2026-11-23"


def test_spreadsheets_get_the_time_there_with_an_offset_only_where_clocks_show_it_twice() -> None:
    def written(text: str) -> str:
        return time_zones.for_spreadsheets(text, BUCHAREST)

    assert written("2026-11-24T10:00:05.999Z") == "2026-11-24 12:00:05"
    assert written("2026-10-25T00:30:00.000Z") == "2026-10-25 03:30:00+03:00"
    assert written("2026-10-25T01:30:00.000Z") == "2026-10-25 03:30:00+02:00"
    assert written("2026-10-25T02:00:00.000Z") == "2026-10-25 04:00:00"
    assert written("2026-03-29T01:00:00.000Z") == "2026-03-29 04:00:00"
    assert time_zones.for_spreadsheets(None, BUCHAREST) == ""


@pytest.mark.parametrize(
    "name",
    ["Europe/Bucharest", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Monrovia", "UTC"],
)
def test_each_minute_around_a_change_of_the_clocks_is_what_zoneinfo_says(name: str) -> None:
    """The result is that of zoneinfo in unusual zones too.

    Lord Howe changes by half an hour, at half past. Monrovia was 44 minutes and 30 seconds behind.
    """
    zone = time_zone(name)
    for begins in ("1972-01-06T20", "2026-03-28T20", "2026-10-24T20", "2026-11-01T00", "2026-04-04T10"):
        first = datetime.fromisoformat(f"{begins}:00Z")
        for minute in range(0, 24 * 60, 5):
            moment = first + timedelta(minutes=minute)
            there = moment.astimezone(zone)
            found = time_zones.local_minute(f"{moment:%Y-%m-%dT%H:%M}", zone)
            assert found.text == f"{there:%Y-%m-%dT%H:%M}"
            is_twice = there.utcoffset() != there.replace(fold=1 - there.fold).utcoffset()
            assert found.twice == (time_zones.offset(there) if is_twice else "")
