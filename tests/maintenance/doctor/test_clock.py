"""A clock whose time is impossible."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import NOW, names, situation, told
from wmsd.base.clock_trust import Known
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.maintenance.doctor import clock
from wmsd.maintenance.doctor.findings import BEFORE_START, diagnose


@pytest.mark.parametrize("year", [1970, 2025, 2100, 2150])
def test_a_year_that_cannot_be(data: Path, year: int) -> None:
    at = situation(data, now=datetime(year, 6, 1, tzinfo=UTC), marks={})
    assert told(clock.findings(at), "clock-wrong") == (
        f"The clock of this machine says {year}-06-01T00:00:00.000Z, which is impossible."
    )


def test_a_file_from_later_than_now(data: Path) -> None:
    later = NOW + timedelta(hours=2)
    os.utime(data / "companies" / "1.db", (later.timestamp(), later.timestamp()))
    at = situation(data)
    assert names(clock.findings(at)) == ["clock-behind"]
    assert "1.db was last changed at 2026-11-20T14:30:00.000Z" in told(clock.findings(at), "clock-behind")


def test_a_file_whose_date_no_calendar_has(data: Path) -> None:
    os.utime(data / "platform.db", (2**33, 2**33))
    assert names(clock.findings(situation(data))) == ["clock-behind"]


def test_a_change_from_later_than_now(data: Path) -> None:
    ahead = round((NOW + timedelta(hours=2)).timestamp() * 1_000_000)
    at = situation(data, marks={2: HighWaterMark(ahead, 1), 9: HighWaterMark(5, 1)})
    assert told(clock.findings(at), "changes-ahead").startswith(
        "The last change of company B has the time 2026-11-20T14:30:"
    )


def test_a_clock_that_was_set(data: Path) -> None:
    at = situation(data, clock=Known(NOW, NOW, NOW, timedelta(hours=3)))
    assert told(clock.findings(at), "clock-doubted").startswith(
        "The clock was set forward by 3 h 0 min, so wmsd deletes no old data until "
    )
    assert names(clock.findings(situation(data, clock=Known(NOW, NOW)))) == []


@pytest.mark.parametrize(
    ("machine", "chosen"), [("XYZ-3", ""), ("Mars/Olympus_Mons", ""), ("XYZ-3", "Asia/Tokyo")]
)
def test_a_time_zone_that_the_machine_does_not_say(
    data: Path, monkeypatch: pytest.MonkeyPatch, machine: str, chosen: str
) -> None:
    monkeypatch.setenv("TZ", machine)
    at = situation(data, {"server": {"time_zone": chosen}})
    assert at.settings.server.zone.key == (chosen or "UTC")
    found = [each for each in diagnose(at, groups=BEFORE_START) if each.kind is clock.ZONE_UNKNOWN]
    assert [each.sentence for each in found] == [
        "The time zone of this machine is unknown, so pages and documents show UTC, and a day ends at "
        "midnight UTC."
    ][: not chosen]
    monkeypatch.setenv("TZ", "Europe/Bucharest")
    assert names(clock.findings(situation(data))) == []
