"""When a person has to look at the clock, by what the installation knows."""

from datetime import UTC, datetime, timedelta

import pytest

from wmsd.base.clock_trust import Known
from wmsd.data_folder.clock_verdict import Tokens, wrong_clock

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
A_DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("known", "tokens", "said"),
    [
        (Known(NOON, NOON), (3, 3), None),
        (Known(NOON - 40 * A_DAY, NOON - 40 * A_DAY), (3, 1), None),
        (Known(NOON - 40 * A_DAY, NOON - 40 * A_DAY), (0, 0), None),
        (Known(NOON - 40 * A_DAY, NOON - 40 * A_DAY), (3, 0), "refused as expired now: 3."),
        (Known(NOON, NOON, NOON, timedelta(hours=3)), (3, 3), None),
        (Known(NOON, NOON, NOON, 2 * A_DAY), (3, 3), "was set forward by 2 days"),
        (Known(NOON, NOON, NOON, -2 * A_DAY), (3, 3), "was set back by 2 days"),
        (Known(NOON + 2 * A_DAY, NOON + 2 * A_DAY), (3, 3), "is later: 2026-11-22"),
        (Known(NOON, NOON + timedelta(hours=2), NOON, timedelta(hours=2)), (3, 3), None),
    ],
)
def test_what_shows_that_the_clock_is_wrong(known: Known, tokens: tuple[int, int], said: str | None) -> None:
    found = wrong_clock(known, Tokens(*tokens), NOON)
    assert (found is None) == (said is None)
    assert said is None or (found is not None and said in found.sentence)
