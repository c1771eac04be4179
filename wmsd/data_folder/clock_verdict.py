"""Decides whether the wall clock differs so much from the stored times that a person must check it."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.clock_trust import LONGEST_STOP, Known
from wmsd.data_folder import clock_watch
from wmsd.data_folder.clock_watch import in_words
from wmsd.db.engine.high_water_mark import FAR_AHEAD
from wmsd.db.engine.transaction import Transaction

LARGE_STEP: Final = timedelta(days=1)
"""The smallest step of the clock that is reported. A smaller step does little harm. Only a few tokens look
expired, and the server deletes no old data until it trusts the clock again.
"""
EXPIRED_TOKENS: Final = """
    SELECT iif(max(expires_at) > :now, 0, coalesce(sum(expires_at > :seen), 0))
    FROM tokens WHERE revoked_at IS NULL
"""
REMEDY: Final = (
    "If the clock is wrong, set it, preferably by NTP (timedatectl set-ntp true). If the clock is "
    "right, run wmsd clock confirm."
)
SAYS: Final = "The clock of this machine says {now}. {why}"
SET: Final = "The clock was set {direction} by {step} while wmsd ran."
FORWARD: Final = "forward"
BACK: Final = "back"
BEHIND: Final = "wmsd last ran here at a later time: {seen}."
EXPIRED: Final = (
    "wmsd last ran here at {seen}, and all API tokens that were valid then ({tokens}) are now refused as expired."
)


class WrongClock(NamedTuple):
    now: str
    why: str

    @property
    def sentence(self) -> str:
        return SAYS.format_map(self._asdict())


def expired_tokens(tx: Transaction, known: Known, now: datetime) -> int:
    """Return how many API tokens have expired since the clock was last trusted. Return 0 if any token is still
    valid at the time `now`.

    Revoked tokens are not counted.
    """
    moments = {"seen": timestamps.to_text(known.steady_at), "now": timestamps.to_text(now)}
    return tx.number(EXPIRED_TOKENS, moments)


def stored(tx: Transaction, now: datetime) -> WrongClock | None:
    """Return why the clock is probably wrong, by comparing `now` with the state of the clock that the last server
    stored.

    Return None if the clock seems right, or if no server has run yet.
    """
    known = clock_watch.known(tx)
    return None if known is None else wrong_clock(known, expired_tokens(tx, known, now), now)


def wrong_clock(known: Known, expired: int, now: datetime) -> WrongClock | None:
    """Return why the clock is probably wrong, or None if it seems right.

    `known` is the stored state of the clock. `expired` is the number of tokens that `expired_tokens` has returned.
    """
    shown = timestamps.to_text(now)
    if known.doubted_since is not None and known.step is not None and abs(known.step) >= LARGE_STEP:
        direction = FORWARD if known.step > timedelta() else BACK
        return WrongClock(shown, SET.format(direction=direction, step=in_words(abs(known.step))))
    seen = timestamps.to_text(known.steady_at)  # times that were read while the clock was doubted prove nothing
    if known.steady_at > now + FAR_AHEAD:
        return WrongClock(shown, BEHIND.format(seen=seen))
    if now - known.steady_at > LONGEST_STOP and expired:
        return WrongClock(shown, EXPIRED.format(seen=seen, tokens=expired))
    return None
