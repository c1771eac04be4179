"""Tests of the rules by which wmsd trusts a clock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.clock_trust import A_STEP, LONGEST_STOP, STEADY_AFTER, ClockTrust, Known, Reading

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
AN_INSTANT = timedelta(microseconds=1)
STEPS = [timedelta(seconds=61), HOUR, 30 * DAY, 180 * DAY, 3650 * DAY]


class Machine:
    """A machine whose wall clock can be set, and whose monotonic seconds pass independently."""

    def __init__(self, known: Known | None = None, wall: datetime = NOON) -> None:
        self.wall, self.passed = wall, 5000.0
        self.steadiness = ClockTrust(Reading(wall, self.passed), known)

    def look(self) -> bool:
        return self.steadiness.look(Reading(self.wall, self.passed))

    def live(self, duration: timedelta) -> None:
        self.wall, self.passed = self.wall + duration, self.passed + duration.total_seconds()
        self.look()

    def set_by(self, step: timedelta) -> bool:
        self.wall += step
        return self.look()

    def started_again(self, after: timedelta) -> "Machine":
        """Return the machine after a stop. `after` is the duration of the stop by the wall clock."""
        return Machine(self.steadiness.known, self.wall + after)


def test_a_new_installation_believes_its_clock() -> None:
    assert Machine().steadiness.is_steady


@pytest.mark.parametrize("step", [*STEPS, *(-step for step in STEPS)])
def test_a_step_is_doubted_for_a_day(step: timedelta) -> None:
    machine = Machine()
    machine.live(HOUR)
    assert machine.set_by(step)
    assert (machine.steadiness.is_steady, machine.steadiness.step) == (False, step)
    machine.live(STEADY_AFTER - SECOND)
    assert not machine.steadiness.is_steady
    machine.live(SECOND)
    assert machine.steadiness.is_steady


def test_another_step_begins_the_day_anew() -> None:
    machine = Machine()
    machine.set_by(30 * DAY)
    machine.live(20 * HOUR)
    machine.set_by(30 * DAY)
    machine.live(20 * HOUR)
    assert not machine.steadiness.is_steady
    machine.live(4 * HOUR)
    assert machine.steadiness.is_steady


@pytest.mark.parametrize("step", [*STEPS, *(-step for step in STEPS)])
def test_a_clock_that_is_set_right_again_is_believed_at_once(step: timedelta) -> None:
    machine = Machine()
    machine.set_by(step)
    machine.live(HOUR)
    machine.set_by(3 * HOUR)
    machine.live(HOUR)
    assert machine.set_by(-step - 3 * HOUR)
    assert machine.steadiness.is_steady


def test_small_corrections_are_no_step() -> None:
    machine = Machine()
    for correction in (A_STEP, -A_STEP, SECOND) * 100:
        machine.live(SECOND)
        machine.set_by(correction)
        assert machine.steadiness.is_steady


def test_a_short_stop_is_no_step() -> None:
    assert Machine().started_again(LONGEST_STOP).steadiness.is_steady


def test_after_a_long_stop_a_day_has_to_pass() -> None:
    machine = Machine().started_again(LONGEST_STOP + 2 * A_STEP)
    assert (machine.steadiness.is_steady, machine.steadiness.step) == (False, None)
    machine.live(STEADY_AFTER)
    assert machine.steadiness.is_steady


def test_a_clock_that_went_back_during_a_stop_was_set() -> None:
    machine = Machine().started_again(-HOUR)
    assert (machine.steadiness.is_steady, machine.steadiness.step) == (False, -HOUR)


def test_a_box_without_a_battery_starts_in_1970_and_is_believed_when_the_network_answers() -> None:
    machine = Machine(Machine().steadiness.known, datetime(1970, 1, 1, tzinfo=UTC))
    assert not machine.steadiness.is_steady
    machine.live(timedelta(seconds=40))
    machine.wall = NOON + 10 * HOUR
    assert machine.look()
    assert machine.steadiness.is_steady


def test_a_doubt_outlives_stops() -> None:
    machine = Machine()
    machine.set_by(180 * DAY)
    machine.live(10 * HOUR)
    machine = machine.started_again(HOUR)
    assert (machine.steadiness.is_steady, machine.steadiness.step) == (False, 180 * DAY)
    machine.live(13 * HOUR)
    assert machine.steadiness.is_steady


def test_a_clock_that_was_put_right_during_a_stop_is_believed() -> None:
    machine = Machine()
    machine.set_by(180 * DAY)
    assert machine.started_again(-180 * DAY + HOUR).steadiness.is_steady


def test_a_person_can_say_that_it_is_right() -> None:
    machine = Machine()
    machine.set_by(180 * DAY)
    machine.steadiness.trust()
    assert machine.steadiness.is_steady
    assert machine.started_again(HOUR).steadiness.is_steady


def test_a_machine_that_slept_was_not_set() -> None:
    """A machine that slept does not count as set, because `passed` includes the time of sleep."""
    machine = Machine()
    machine.live(8 * HOUR)
    assert machine.steadiness.is_steady


@given(st.lists(st.timedeltas(timedelta(days=-4000), timedelta(days=4000)), max_size=20))
def test_while_it_is_believed_its_time_is_the_time_that_has_passed(steps: list[timedelta]) -> None:
    """While wmsd trusts a clock, its time is the time that has passed.

    A clock that is wrong by a step becomes trusted only after a steady day. Here each step is followed by only an
    hour.
    """
    machine = Machine()
    right = NOON
    for step in steps:
        machine.set_by(step)
        machine.live(HOUR)
        right += HOUR
        if machine.steadiness.is_steady:
            assert abs(machine.wall - right) <= A_STEP * (len(steps) + 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_minute_is_no_step_and_any_more_is(sign: int) -> None:
    machine = Machine()
    assert not machine.set_by(sign * A_STEP)
    assert machine.steadiness.is_steady
    assert machine.set_by(sign * (A_STEP + AN_INSTANT))
    assert not machine.steadiness.is_steady


@pytest.mark.parametrize(("stop", "further"), [(LONGEST_STOP + A_STEP, AN_INSTANT), (-A_STEP, -AN_INSTANT)])
def test_after_a_stop_it_may_stand_within_a_day_and_a_minute(stop: timedelta, further: timedelta) -> None:
    assert Machine().started_again(stop).steadiness.is_steady
    assert not Machine().started_again(stop + further).steadiness.is_steady


def test_what_is_kept_of_a_steady_clock_is_its_last_moment() -> None:
    machine = Machine()
    machine.live(HOUR)
    assert machine.steadiness.known == Known(NOON + HOUR, NOON + HOUR, None, None)
    assert machine.steadiness.steady_at == NOON + HOUR
    assert machine.steadiness.step is None


def test_a_doubt_that_a_stop_has_only_interrupted_goes_on() -> None:
    machine = Machine()
    machine.set_by(30 * DAY)
    machine.live(HOUR)
    doubted_since = machine.steadiness.doubted_since
    assert machine.started_again(HOUR).steadiness.doubted_since == doubted_since
    new = machine.started_again(30 * DAY).steadiness
    assert (new.doubted_since, new.step) == (machine.wall + 30 * DAY, None)
