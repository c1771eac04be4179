"""The times at which a backup is due, and the backups that are kept."""

from datetime import UTC, datetime, time, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.backup_schedule import PERIODS, Every, Keep, backups_to_keep, is_due, is_proof_due, next_due

AT = time(2, 30)
NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
MOMENTS = st.lists(
    st.integers(0, 17_520).map(lambda hours: NOON - timedelta(hours=hours)), min_size=1, max_size=60
)
KEEPS = st.builds(Keep, *[st.integers(0, 10)] * 3)


@pytest.mark.parametrize(
    ("made", "due"),
    [
        ([], True),
        ([NOON.replace(hour=2, minute=30)], False),
        ([NOON.replace(hour=11)], False),
        ([NOON.replace(hour=2, minute=29)], True),
        ([NOON - timedelta(days=1)], True),
        ([NOON + timedelta(days=400)], True),  # the clock was set back since then
    ],
)
def test_a_day_has_one_backup_from_its_time_on(made: list[datetime], due: bool) -> None:
    assert is_due("day", AT, NOON, made) is due


def test_before_its_time_the_day_before_counts() -> None:
    early = NOON.replace(hour=1)
    assert not is_due("day", AT, early, [NOON - timedelta(days=1)])
    assert is_due("day", AT, early, [NOON - timedelta(days=2)])


@pytest.mark.parametrize(("minute", "due"), [(0, False), (59, False), (-1, True)])
def test_an_hour_has_one_backup(minute: int, due: bool) -> None:
    now = NOON.replace(minute=59)
    assert is_due("hour", AT, now, [NOON + timedelta(minutes=minute)]) is due


@pytest.mark.parametrize(
    ("every", "made", "expected"),
    [
        ("day", [], NOON),
        ("day", [NOON - timedelta(days=1)], NOON),
        ("day", [NOON.replace(hour=3)], datetime(2026, 11, 24, 2, 30, tzinfo=UTC)),
        ("hour", [NOON], NOON + timedelta(hours=1)),
        ("never", [], None),
    ],
)
def test_when_the_next_one_is_due(every: Every, made: list[datetime], expected: datetime | None) -> None:
    found = next_due(every, AT, NOON, made)
    assert found == expected
    if found is not None and found != NOON:
        assert is_due(every, AT, found, made)
        assert not is_due(every, AT, found - timedelta(seconds=1), made)


def test_never_is_never() -> None:
    assert not is_due("never", AT, NOON, [])
    assert not is_proof_due("never", AT, NOON, None)


@pytest.mark.parametrize("every", ["hour", "day"])
def test_one_proof_a_day(every: Every) -> None:
    assert is_proof_due(every, AT, NOON, None)
    assert not is_proof_due(every, AT, NOON, NOON.replace(hour=3))
    assert is_proof_due(every, AT, NOON, NOON.replace(hour=2, minute=0))
    assert is_proof_due(every, AT, NOON, NOON + timedelta(days=400))


def test_the_time_is_that_of_the_box() -> None:
    """The configured time is local time: 02:30 in Bucharest is 00:30 UTC."""
    box = timezone(timedelta(hours=2))
    now = datetime(2026, 11, 23, 3, 0, tzinfo=box)
    assert not is_due("day", AT, now, [datetime(2026, 11, 23, 0, 31, tzinfo=UTC).astimezone(box)])
    assert is_due("day", AT, now, [datetime(2026, 11, 23, 0, 29, tzinfo=UTC).astimezone(box)])


@pytest.mark.parametrize("at", ["00:00", "02:00", "02:30", "03:00", "03:30", "04:00", "12:00"])
@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Bucharest", "2026-10-23"),
        ("Europe/Berlin", "2026-10-23"),
        ("Europe/Berlin", "2026-03-27"),
        ("America/New_York", "2026-03-06"),
    ],
)
def test_so_has_one_on_which_the_clock_is_changed(zone: str, day: str, at: str) -> None:
    """With a check every 10 minutes, a daily schedule makes one backup on every day, and an hourly schedule one in
    each hour.
    """
    began = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=ZoneInfo(zone))
    of_days, of_hours = [began], [began]
    for minutes in range(0, 98 * 60, 10):
        moment = (began.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(ZoneInfo(zone))
        now = moment.replace(tzinfo=timezone(moment.utcoffset() or timedelta()))  # the local time of the machine
        if is_due("day", time.fromisoformat(at), now, of_days[-1:]):
            of_days.append(now)
        if is_due("hour", AT, now, of_hours[-1:]):
            of_hours.append(now)
    assert [each.date() - began.date() for each in of_days] == [timedelta(days=number) for number in range(5)]
    assert {later - sooner for sooner, later in pairwise(of_hours)} == {timedelta(hours=1)}


def test_hours_days_and_weeks_are_kept() -> None:
    made = [NOON - timedelta(hours=hours) for hours in range(24 * 60)]
    stay = sorted(backups_to_keep(made, Keep(hourly=24, daily=7, weekly=4)), reverse=True)
    assert stay[:24] == made[:24]
    days = [moment for moment in stay if moment.hour == 23]
    assert [moment.day for moment in days] == [
        22,
        21,
        20,
        19,
        18,
        17,
        15,
        8,
    ]  # the day of NOON, six more days, two Sundays
    assert len(stay) == 24 + 5 + 2


@given(MOMENTS, KEEPS)
def test_the_newest_stays_and_nothing_is_invented(made: list[datetime], keep: Keep) -> None:
    stay = backups_to_keep(made, keep)
    assert max(made) in stay
    assert stay <= set(made)
    assert len(stay) <= 1 + sum(keep)


def test_a_faulty_one_replaces_none_that_is_not() -> None:
    made = [NOON - timedelta(hours=hours) for hours in range(24 * 3)]
    since_yesterday = [moment for moment in made if moment > NOON - timedelta(hours=20)]
    stay = sorted(backups_to_keep(made, Keep(hourly=1, daily=2, weekly=0), since_yesterday), reverse=True)
    assert stay == [NOON, NOON - timedelta(hours=20)]
    stay = sorted(backups_to_keep(made, Keep(hourly=1, daily=2, weekly=0), made), reverse=True)
    assert stay == [NOON, NOON - timedelta(hours=13)]


@given(MOMENTS, KEEPS, st.data())
def test_an_hour_day_or_week_that_has_a_good_one_keeps_a_good_one(
    made: list[datetime], keep: Keep, data: st.DataObject
) -> None:
    faulty = data.draw(st.sets(st.sampled_from(made)))
    stay = backups_to_keep(made, keep, faulty)
    for name, period in PERIODS.items():
        newest = list(dict.fromkeys(period(moment) for moment in sorted(made, reverse=True)))
        for each in newest[: getattr(keep, name)]:
            good = {moment for moment in made if period(moment) == each} - faulty
            assert max(good, default=None) in {*stay, None}
    assert backups_to_keep(sorted(stay), keep, faulty) == stay


@given(MOMENTS, KEEPS)
def test_to_delete_twice_deletes_no_more(made: list[datetime], keep: Keep) -> None:
    stay = backups_to_keep(made, keep)
    assert backups_to_keep(sorted(stay), keep) == stay
