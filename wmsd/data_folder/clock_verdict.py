"""Whether the wall clock is so far from what the installation knows that a person has to look."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.clock_trust import LONGEST_STOP, Known
from wmsd.data_folder import clock_watch
from wmsd.data_folder.clock_watch import in_words
from wmsd.db.engine.high_water_mark import FAR_AHEAD
from wmsd.db.engine.transaction import Transaction

LARGE_STEP: Final = timedelta(days=1)
"""A smaller step makes few tokens look expired; the server waits by itself until it is sure."""
EXPIRED_TOKENS: Final = """
    SELECT iif(max(expires_at) > :now, 0, coalesce(sum(expires_at > :seen), 0))
    FROM tokens WHERE revoked_at IS NULL
"""
REMEDY: Final = (
    "Set the clock, best by NTP (timedatectl set-ntp true). If the clock is right, run wmsd clock confirm."
)
SAYS: Final = "The clock of this machine says {now}. {why}"
SET: Final = "The clock was set {direction} by {step} while wmsd ran."
FORWARD: Final = "forward"
BACK: Final = "back"
BEHIND: Final = "The last moment at which wmsd ran here is later: {seen}."
EXPIRED: Final = (
    "The last moment at which wmsd ran here is {seen}, and all API tokens that were valid then are refused as "
    "expired now: {tokens}."
)


class WrongClock(NamedTuple):
    now: str
    why: str

    @property
    def sentence(self) -> str:
        return SAYS.format_map(self._asdict())


def expired_tokens(tx: Transaction, known: Known, now: datetime) -> int:
    """How many API tokens that nobody has revoked were valid at the last moment of a clock that could be trusted,
    if all have expired by now; 0 if one is still valid.
    """
    moments = {"seen": timestamps.to_text(known.steady_at), "now": timestamps.to_text(now)}
    return tx.number(EXPIRED_TOKENS, moments)


def stored(tx: Transaction, now: datetime) -> WrongClock | None:
    """By what the last server has stored. None also where no server has run yet."""
    known = clock_watch.known(tx)
    return None if known is None else wrong_clock(known, expired_tokens(tx, known, now), now)


def wrong_clock(known: Known, expired: int, now: datetime) -> WrongClock | None:
    """None while nothing shows that the clock is wrong. `expired` is what `expired_tokens` gives."""
    shown = timestamps.to_text(now)
    if known.doubted_since is not None and known.step is not None and abs(known.step) >= LARGE_STEP:
        direction = FORWARD if known.step > timedelta() else BACK
        return WrongClock(shown, SET.format(direction=direction, step=in_words(abs(known.step))))
    seen = timestamps.to_text(known.steady_at)  # what was seen while the clock was doubted shows nothing
    if known.steady_at > now + FAR_AHEAD:
        return WrongClock(shown, BEHIND.format(seen=seen))
    if now - known.steady_at > LONGEST_STOP and expired:
        return WrongClock(shown, EXPIRED.format(seen=seen, tokens=expired))
    return None
