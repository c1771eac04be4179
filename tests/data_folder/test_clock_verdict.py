"""Tests of when a person has to check the clock, by what the installation knows."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.world import World
from wmsd.base import timestamps
from wmsd.base.clock_trust import Known
from wmsd.data_folder.clock_verdict import expired_tokens, wrong_clock
from wmsd.db.engine.transaction import Transaction

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
A_DAY = timedelta(days=1)
ADD_TOKEN = """
    INSERT INTO tokens (jti, user_id, name, abilities, created_at, expires_at)
    SELECT ?, min(id), 'a', '[]', ?, ? FROM users
"""


@pytest.mark.parametrize(
    ("known", "expired", "said"),
    [
        (Known(NOON, NOON), 0, None),
        (Known(NOON - 40 * A_DAY, NOON - 40 * A_DAY), 0, None),
        (
            Known(NOON - 40 * A_DAY, NOON - 40 * A_DAY),
            3,
            "all API tokens that were valid then (3) are now refused",
        ),
        (Known(NOON - A_DAY, NOON - A_DAY), 3, None),
        (Known(NOON, NOON, NOON, timedelta(hours=3)), 0, None),
        (Known(NOON, NOON, NOON, 2 * A_DAY), 0, "was set forward by 2 days"),
        (Known(NOON, NOON, NOON, -2 * A_DAY), 0, "was set back by 2 days"),
        (Known(NOON + 2 * A_DAY, NOON + 2 * A_DAY), 0, "at a later time: 2026-11-22"),
        (Known(NOON, NOON + timedelta(hours=2), NOON, timedelta(hours=2)), 0, None),
    ],
)
def test_what_shows_that_the_clock_is_wrong(known: Known, expired: int, said: str | None) -> None:
    found = wrong_clock(known, expired, NOON)
    assert (found is None) == (said is None)
    assert said is None or (found is not None and said in found.sentence)


@pytest.mark.parametrize(
    ("ends", "expired"),
    [
        ([], 0),
        ([20 * A_DAY, 30 * A_DAY, 50 * A_DAY], 0),
        ([-A_DAY, 20 * A_DAY, 30 * A_DAY], 2),
        ([-A_DAY], 0),
    ],
)
async def test_tokens_that_were_valid_count_when_all_have_expired(
    world: World, ends: list[timedelta], expired: int
) -> None:
    """Expired tokens count if all have expired that were valid at the last steady time.

    That time was 40 days ago. `ends` are the times after it at which the tokens expire.
    """
    seen = NOON - 40 * A_DAY

    def count(tx: Transaction) -> int:
        tx.execute("UPDATE tokens SET revoked_at = created_at")
        for number, end in enumerate(ends):
            values = (f"t{number}", timestamps.to_text(seen - 9 * A_DAY), timestamps.to_text(seen + end))
            tx.execute(ADD_TOKEN, values)
        return expired_tokens(tx, Known(seen, seen), NOON)

    assert await world.installation.platform.write(count) == expired
