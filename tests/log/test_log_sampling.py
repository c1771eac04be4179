"""Tests of which request lines are written under a flood."""

from collections.abc import Iterable

from tests.support.steering import SteeredClock
from wmsd.log.sampling import LogSampling


def written(sampling: LogSampling, statuses: Iterable[int], is_admitted: bool = False) -> int:
    return sum(sampling.admits(status, is_admitted) for status in statuses)


def test_of_refused_requests_fifty_are_written_at_once_and_then_five_a_second() -> None:
    clock = SteeredClock()
    sampling = LogSampling(clock)
    assert written(sampling, [401] * 1000) == 50
    clock.advance(1)
    assert written(sampling, [404, 200, 403] * 100) == 5
    clock.advance(0.1)
    assert written(sampling, [401]) == 0
    clock.advance(0.1)
    assert written(sampling, [401]) == 1
    clock.advance(3600)
    assert written(sampling, [401] * 1000) == 50


def test_thirty_seconds_of_a_flood_are_two_hundred_lines() -> None:
    clock = SteeredClock()
    sampling = LogSampling(clock)
    lines = 0
    for _ in range(300):
        clock.advance(0.1)
        lines += written(sampling, [401] * 300)
    assert 195 <= lines <= 200


def test_whoever_was_admitted_is_always_written() -> None:
    sampling = LogSampling(SteeredClock())
    written(sampling, [401] * 1000)
    assert written(sampling, [200, 404, 500] * 1000, is_admitted=True) == 3000


def test_what_a_limit_refused_shares_the_budget_of_refusals() -> None:
    sampling = LogSampling(SteeredClock())
    assert written(sampling, [429] * 30, is_admitted=True) == 30
    assert written(sampling, [429] * 30) == 20


def test_failures_have_a_budget_of_their_own() -> None:
    clock = SteeredClock()
    sampling = LogSampling(clock)
    assert written(sampling, [401] * 100 + [503] * 100) == 50 + 20
    clock.advance(1)
    assert written(sampling, [500] * 100) == 20


def test_what_is_left_out_is_told_by_status_and_once() -> None:
    clock = SteeredClock()
    sampling = LogSampling(clock)
    assert written(sampling, [401] * 50) == 50
    assert sampling.left_out() is None
    written(sampling, [401] * 4000 + [429] * 321)
    clock.advance(10)
    expected = "4 321 more refused requests were not logged in the last 10 s (401: 4 000, 429: 321)"
    assert sampling.left_out() == expected
    assert sampling.left_out() is None
    written(sampling, [200] * 100)
    assert sampling.left_out() == "50 more requests were not logged in the last 1 s (200: 50)"


def test_the_clock_of_the_wall_may_be_set_back() -> None:
    clock = SteeredClock()
    sampling = LogSampling(clock)
    written(sampling, [401] * 1000)
    clock.set_back(3600)
    clock.seconds += 1
    assert written(sampling, [401] * 1000) == 5
