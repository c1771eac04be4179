"""The pauses after failed sign-ins: their length, and their cost in memory."""

import pytest

from wmsd.tenants.accounts.sign_in_pauses import (
    FORGOTTEN_AFTER,
    LONGEST_PAUSE,
    MOST_REMEMBERED,
    PATIENCE,
    Pauses,
    pause_after,
)

ANA = ("ana@example.com", None)


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(1, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (9, 16), (10, 32), (11, 60), (12, 60), (10**9, 60)],
)
def test_a_pause_doubles_and_has_an_upper_bound(failures: int, seconds: float) -> None:
    assert pause_after(failures) == seconds


def failed(pauses: Pauses, key: tuple[str, str | None], times: int, now: float) -> None:
    for _ in range(times):
        pauses.note_failure(key, now)


def test_failures_are_forgotten_in_time() -> None:
    pauses = Pauses()
    failed(pauses, ANA, PATIENCE, now=0)
    assert pauses.left(ANA, 0.25) == 0.75
    assert pauses.left(ANA, 1) == 0
    pauses.note_failure(ANA, FORGOTTEN_AFTER)
    assert pauses.left(ANA, FORGOTTEN_AFTER) == 2, "the sixth"
    later = 2 * FORGOTTEN_AFTER + 3
    pauses.note_failure(ANA, later)
    assert pauses.left(ANA, later) == 0, "the first"


def test_what_is_remembered_is_bounded_and_a_pause_that_lasts_stays() -> None:
    pauses = Pauses()
    failed(pauses, ANA, 20, now=0)
    for place in range(3 * MOST_REMEMBERED):
        pauses.note_failure((f"{place}@example.com", None), now=place / MOST_REMEMBERED)
        assert len(pauses) <= MOST_REMEMBERED
    assert pauses.left(ANA, 3) == LONGEST_PAUSE - 3
