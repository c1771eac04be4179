"""Tests of the time that the positions of changes follow when the clock jumps."""

from datetime import timedelta

import pytest

from tests.support.steering import SteeredClock
from wmsd.base.clock import OrderedClock

YEAR = 365 * 86_400


def ordered() -> tuple[SteeredClock, OrderedClock]:
    steered = SteeredClock()
    return steered, OrderedClock(steered)


def test_an_ordered_clock_tells_the_same_as_its_clock() -> None:
    steered, clock = ordered()
    steered.advance(30)
    assert clock.now() == clock.ordering() == steered.wall
    assert (clock.monotonic(), clock.passed()) == (steered.monotonic(), steered.passed())


def test_changes_do_not_follow_a_clock_that_is_wrong_for_ten_seconds() -> None:
    steered, clock = ordered()
    noon = steered.wall
    steered.set_forward(5 * YEAR)
    assert (clock.now(), clock.ordering()) == (steered.wall, noon)
    steered.advance(10)
    assert clock.ordering() == noon + timedelta(seconds=10)
    steered.set_back(5 * YEAR)
    assert clock.ordering() == steered.wall == noon + timedelta(seconds=10)


def test_changes_follow_a_clock_that_goes_on_for_ten_minutes() -> None:
    steered, clock = ordered()
    noon = steered.wall
    steered.set_forward(5 * YEAR)
    clock.ordering()
    steered.advance(599)
    assert clock.ordering() == noon + timedelta(seconds=599)
    steered.advance(1)
    assert clock.ordering() == steered.wall
    steered.advance(1)
    assert clock.ordering() == steered.wall


def test_the_minutes_begin_again_with_each_leap() -> None:
    steered, clock = ordered()
    noon = steered.wall
    for _ in range(3):
        steered.set_forward(YEAR)
        clock.ordering()
        steered.advance(400)
    assert clock.ordering() == noon + timedelta(seconds=1200)


@pytest.mark.parametrize(("leap", "is_followed"), [(3600, True), (3601, False)])
def test_a_small_leap_is_followed_at_once(leap: int, is_followed: bool) -> None:
    steered, clock = ordered()
    steered.set_forward(leap)
    assert (clock.ordering() == steered.wall) is is_followed


def test_a_clock_that_was_set_back_is_followed_and_may_come_back() -> None:
    steered, clock = ordered()
    steered.set_back(YEAR)
    assert clock.ordering() == steered.wall
    steered.set_forward(YEAR)
    assert clock.ordering() == steered.wall


@pytest.mark.parametrize(("days", "is_followed"), [(-9000, True), (31, True), (32, False)])
def test_after_a_stop_the_clock_may_be_ahead_by_a_month(days: int, is_followed: bool) -> None:
    steered, clock = ordered()
    clock.remember(steered.wall - timedelta(days=days))
    assert (clock.ordering() == steered.wall) is is_followed


def test_a_machine_that_begins_in_1970_is_put_right_by_a_month_at_most() -> None:
    steered, clock = ordered()
    right = steered.wall
    steered.set_back(50 * YEAR)
    clock.remember(right - timedelta(days=30))
    assert clock.ordering() == steered.wall
    steered.set_forward(50 * YEAR)
    assert clock.ordering() == right
    steered.set_forward(7200)
    assert clock.ordering() == right, "it has been right meanwhile, and nothing stood still"


def test_who_says_that_the_clock_is_right_is_believed() -> None:
    steered, clock = ordered()
    steered.set_forward(5 * YEAR)
    clock.ordering()
    clock.believe()
    assert clock.ordering() == steered.wall
