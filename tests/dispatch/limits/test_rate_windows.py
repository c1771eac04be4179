"""Tests of one window, to the second: what is left, when it is free again, and which keys have a window of their
own.
"""

import pytest

from wmsd.base.problems import Problem
from wmsd.dispatch.limits import rate_limits
from wmsd.dispatch.limits.rate_limits import GRAIN, WINDOW, Limiter


def refused(limiter: Limiter, key: str, limit: int, now: float) -> Problem:
    """Return the refusal, which is the same when the limit is only checked and when it is used."""
    with pytest.raises(Problem) as asked:
        limiter.check(key, limit, now)
    with pytest.raises(Problem) as taken:
        limiter.take(key, limit, now)
    assert (asked.value.message, asked.value.headers) == (taken.value.message, taken.value.headers)
    return taken.value


def headers(limit: int, left: int, reset: int) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": f"{limit}",
        "X-RateLimit-Remaining": f"{left}",
        "X-RateLimit-Reset": f"{reset}",
        "RateLimit-Policy": f'"minute";q={limit};w=60',
        "RateLimit": f'"minute";r={left};t={reset}',
    }


def test_what_is_left_is_told() -> None:
    limiter = Limiter()
    told = [limiter.take("open:a", 3, now).headers() for now in (0.0, 10.0, 10.5)]
    assert told == [headers(3, int(left), 60) for left in "210"]


def test_a_refusal_says_when_the_first_and_when_the_last_is_over() -> None:
    limiter = Limiter()
    for now in (0.0, 10.0, 10.1):
        limiter.check("open:a", 3, now)
        limiter.take("open:a", 3, now)
    problem = refused(limiter, "open:a", 3, 20.0)
    assert problem.message == "Too many requests: the limit is 3 a minute. Try again in 40 s."
    assert problem.headers == {"Retry-After": "40", **headers(3, 0, 51)}
    assert refused(limiter, "open:a", 2, 20.0).headers["Retry-After"] == "51", "two must be over, and are together"
    assert refused(limiter, "open:a", 3, 59.99).headers["Retry-After"] == "1"
    limiter.check("open:a", 3, 60.0)
    limiter.check("open:b", 3, 20.0)


def test_nothing_was_taken_by_a_look() -> None:
    limiter = Limiter()
    for _ in range(5):
        limiter.check("open:a", 1, 0.0)
    assert limiter.take("open:a", 1, 0.0).remaining == 0


def test_requests_are_over_one_after_the_other() -> None:
    """Requests leave the window one after another.

    The requests are a quarter of a second apart, so each request is counted separately.
    """
    limiter = Limiter()
    for place in range(4):
        limiter.take("open:a", 4, place * GRAIN)
    assert [limiter.take("open:a", 4, WINDOW + place * GRAIN).remaining for place in range(4)] == [0, 0, 0, 0]
    refused(limiter, "open:a", 4, WINDOW + 4 * GRAIN - 0.01)


def test_ten_answers_that_nothing_has_changed_count_as_one() -> None:
    limiter = Limiter()
    limiter.take("open:a", 9, 0.0)
    left = []
    for place in range(25):
        limiter.take("open:a", 9, place * 0.1)
        left.append(limiter.unchanged("open:a", 9, place * 0.1).remaining)
    assert left == [8] * 9 + [7] * 10 + [6] * 6


def test_what_is_over_is_not_taken_back() -> None:
    """A request that has left the window is not taken back.

    The window may move on while the request is running.
    """
    limiter = Limiter()
    limiter.take("open:a", 2, 0.0)
    assert limiter.unchanged("open:a", 2, WINDOW + 1).remaining == 2
    limiter.take("open:a", 2, WINDOW + 2)
    limiter.take("open:a", 2, WINDOW + 2)
    refused(limiter, "open:a", 2, WINDOW + 3)


def test_a_shared_window_is_of_its_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "MOST_KEYS", 2)
    monkeypatch.setattr(rate_limits, "SHARED", 1)
    limiter = Limiter()
    for key in ("open:a", "open:b", "health:a", "health:b"):
        limiter.take(key, 9, 0.0)
    left = [limiter.take(key, 9, 1.0).remaining for key in ("open:c", "open:\ud800", "health:c", "open:a")]
    assert left == [8, 7, 8, 7]


def test_what_came_together_is_over_together() -> None:
    limiter = Limiter()
    for _ in range(3):
        limiter.take("open:a", 3, 0.0)
    assert limiter.take("open:a", 3, WINDOW).remaining == 2


def test_a_limit_of_none_at_all() -> None:
    headers = refused(Limiter(), "open:a", 0, 0.0).headers
    assert (headers["Retry-After"], headers["X-RateLimit-Reset"]) == ("60", "0")


def test_the_last_second() -> None:
    limiter = Limiter()
    limiter.take("open:a", 1, 0.0)
    headers = refused(limiter, "open:a", 1, 59.5).headers
    assert (headers["Retry-After"], headers["X-RateLimit-Reset"]) == ("1", "1")


def test_addresses_have_colons_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "MOST_KEYS", 1)
    monkeypatch.setattr(rate_limits, "SHARED", 1)
    limiter = Limiter()
    keys = ("open:2001:db8::1", "open:2001:db8:1::1", "open:2001:db8:2::1")
    assert [limiter.take(key, 9, 0.0).remaining for key in keys] == [8, 8, 7]


def test_keys_that_share_are_not_all_in_one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "MOST_KEYS", 1)
    limiter = Limiter()
    assert [limiter.take(f"open:{name}", 9, 0.0).remaining for name in "abcd"] == [8, 8, 8, 8]


def test_a_window_that_is_over_makes_room_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that has ended makes room immediately.

    A new key gets a window of its own, and its next request counts in that window.
    """
    monkeypatch.setattr(rate_limits, "MOST_KEYS", 1)
    limiter = Limiter()
    limiter.take("open:a", 1, 0.0)
    limiter.take("open:b", 1, WINDOW)
    refused(limiter, "open:b", 1, WINDOW + 1)
    assert list(limiter._kinds["open"]) == ["open:b"]
