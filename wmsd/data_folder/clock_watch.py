"""The watch on the wall clock: nothing is deleted by age while the clock may be wrong."""

import logging
from datetime import datetime, timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.clock import LASTING_SECONDS, SMALL_LEAP, OrderedClock
from wmsd.base.clock_trust import STEADY_AFTER, ClockTrust, Known, Reading
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction

LOG = logging.getLogger("wmsd.clock")

KNOWN: Final = "SELECT steady_at, seen_at, doubted_since, step_seconds FROM clock"
CONFIRMED: Final = "SELECT coalesce(max(confirmed), 0) FROM clock"
KEEP: Final = """
    INSERT INTO clock (id, steady_at, seen_at, doubted_since, step_seconds)
    VALUES (1, :steady_at, :seen_at, :doubted_since, :step_seconds)
    ON CONFLICT (id) DO UPDATE SET steady_at = excluded.steady_at, seen_at = excluded.seen_at,
        doubted_since = excluded.doubted_since, step_seconds = excluded.step_seconds
"""
CONFIRM: Final = """
    INSERT INTO clock (id, steady_at, seen_at, confirmed) VALUES (1, :now, :now, 1)
    ON CONFLICT (id) DO UPDATE SET steady_at = :now, seen_at = :now, doubted_since = NULL, step_seconds = NULL,
        confirmed = confirmed + 1
"""


def known(tx: Transaction) -> Known | None:
    """Return the stored state of the clock, or None in a new installation."""
    row = tx.row(KNOWN)
    if row is None:
        return None
    steady_at, seen_at, doubted_since, step_seconds = row
    return Known(
        timestamps.from_text(steady_at),
        timestamps.from_text(seen_at),
        None if doubted_since is None else timestamps.from_text(doubted_since),
        None if step_seconds is None else timedelta(seconds=step_seconds),
    )


def keep(tx: Transaction, found: Known) -> None:
    values = {
        "steady_at": timestamps.to_text(found.steady_at),
        "seen_at": timestamps.to_text(found.seen_at),
        "doubted_since": None if found.doubted_since is None else timestamps.to_text(found.doubted_since),
        "step_seconds": None if found.step is None else round(found.step.total_seconds()),
    }
    tx.execute(KEEP, values)


def confirm(tx: Transaction) -> None:
    """Store that a person has confirmed the clock."""
    tx.execute(CONFIRM, {"now": tx.timestamp})


def sentence(doubted_since: datetime, step: timedelta | None) -> str:
    """Return the log message about a clock that may be wrong: what happened, why it matters, and what to do.

    `step` is how far the clock was set, or None if that is unknown.
    """
    if step is None:
        what = "the server was off for more than a day, or the clock was changed while it was off"
    else:
        what = f"the clock was set {'forward' if step > timedelta() else 'back'} by {in_words(abs(step))}"
    until = timestamps.to_text(doubted_since + STEADY_AFTER)
    return f"{what}, so wmsd deletes no old data until {until}. If the clock is right, run `wmsd clock confirm`"


def in_words(duration: timedelta) -> str:
    seconds = round(duration.total_seconds())
    if seconds >= 2 * 86_400:
        return f"{round(seconds / 86_400)} days"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min" if seconds >= 3600 else f"{seconds} s"


async def order_as_server(platform: Database, clock: OrderedClock, is_running: bool) -> None:
    """Set up the clock of a command, so that its changes get later positions than the changes of the server.

    A command ends too soon to see whether a jump of the clock lasts. Therefore it uses the stored state of the
    clock. A running server (`is_running`) stores the state every ten minutes, and when it begins or ceases to
    trust the clock. If no server runs, the command treats the stored state like a starting server.
    """
    found = await platform.read(known)
    if found is None:
        return
    if not is_running or found.doubted_since is None or found.step is None:
        clock.remember(found.steady_at)
        return
    lasts = found.seen_at - found.doubted_since >= timedelta(seconds=LASTING_SECONDS)
    clock.remember(found.seen_at if lasts else found.steady_at, SMALL_LEAP)


class ClockWatch:
    """A comparison of the wall clock with the monotonic clock. `tick` is called about once a second."""

    def __init__(self, platform: Database, clock: OrderedClock) -> None:
        self._platform = platform
        self._clock = clock
        self._confirmed = 0
        self._is_kept = True
        self._steadiness = ClockTrust(self._reading(), None)

    async def start(self) -> None:
        found, self._confirmed = await self._platform.read(lambda tx: (known(tx), tx.value(CONFIRMED)))
        self._steadiness = ClockTrust(self._reading(), found)
        if found is not None:
            self._clock.remember(found.steady_at)
        self._is_kept = False
        if not self._steadiness.is_steady:
            self._changed()

    @property
    def known(self) -> Known:
        """The present state of the clock, which the server stores. If the clock is not trusted, the state says
        since when and why.
        """
        return self._steadiness.known

    def is_steady(self) -> bool:
        """Check the clock again, and return True if the clock can be trusted. Call this before old data is
        deleted.
        """
        self._look()
        return self._steadiness.is_steady

    async def tick(self) -> None:
        self._look()
        if not self._is_kept:
            await self.keep()

    async def keep(self) -> None:
        """Store the state of the clock, so that the next start can compare the clock with it.

        The server calls this at intervals, and when it stops.
        """
        self._is_kept = True
        found = self._steadiness.known
        try:
            await self._platform.write(lambda tx: keep(tx, found), is_quiet=True)
        except BaseException:
            self._is_kept = False
            raise

    async def hear(self) -> None:
        """Check whether a person has confirmed the clock, for example with a command. The server calls this when
        another process has changed platform.db.
        """
        confirmed: int = await self._platform.read(lambda tx: tx.value(CONFIRMED))
        if confirmed != self._confirmed:
            self._confirmed = confirmed
            self._clock.believe()
            self._look()
            if not self._steadiness.is_steady:
                self._steadiness.trust()
                self._changed()

    def _reading(self) -> Reading:
        return Reading(self._clock.now(), self._clock.passed())

    def _look(self) -> None:
        if self._steadiness.look(self._reading()):
            self._changed()

    def _changed(self) -> None:
        self._is_kept = False
        found = self._steadiness.known
        if found.doubted_since is None:
            LOG.info("the clock is trusted again: wmsd deletes old data as before")
        else:
            LOG.warning(sentence(found.doubted_since, found.step))
