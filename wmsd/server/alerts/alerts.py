"""The alerts of a running server: it detects problems, stores alerts about them, and sends each alert once."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.ids import Ids
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.server.alerts.alerts_file import (
    ChannelName,
    Event,
    Failure,
    Kept,
    Notice,
    OpenAlert,
    Waiting,
    read_alerts,
    write_alerts,
)
from wmsd.server.alerts.channels import Channel
from wmsd.server.alerts.conditions import Looks
from wmsd.server.alerts.kinds import Severity, alert_sentence, kind_of
from wmsd.server.alerts.rules import MOST_WAITING, after_failure, is_due, next_alerts

LOG = logging.getLogger("wmsd.alerts")
ALERT_SECONDS: Final = 15.0
STOP_SECONDS: Final = 2.0
UNWRITTEN: Final = "alerts.json cannot be written, so wmsd sends open alerts again after a restart"
LONGEST_ERROR: Final = 500
LEVELS: Final[Mapping[Severity, int]] = {"warning": logging.WARNING, "error": logging.ERROR}


class NotSent(Exception):
    """The error for an alert that could not be sent; its text says why."""


class Alerts:
    """The alerts of a running server.

    Everything runs on the thread of the event loop, except reading and writing alerts.json. Each channel has its
    own task. So a channel that hangs does not delay the other channels or the checks.
    """

    def __init__(self, data: Path, clock: Clock, ids: Ids, looks: Looks, ways: Sequence[Channel]) -> None:
        self._data = data
        self._clock = clock
        self._ids = ids
        self._looks = looks
        self._ways = ways
        self._kept: Kept | None = None
        self._written: Kept | None = None
        self._writing = asyncio.Lock()
        self._sending: dict[ChannelName, asyncio.Task[None]] = {}
        self._told = RepeatedFailures(LOG, (NotSent,), monotonic=clock.monotonic)
        self._is_stopped = False
        self.looked_at: datetime | None = None

    @property
    def ways(self) -> list[ChannelName]:
        return [each.name for each in self._ways]

    @property
    def kept(self) -> Kept:
        """The current state of alerts; empty before the first check."""
        return self._kept or Kept()

    async def look(self) -> None:
        """Check for problems. Log the alerts that have begun or are over, and queue notices about them. A job
        calls this method.
        """
        if self._kept is None:
            self._kept = self._written = await asyncio.to_thread(read_alerts, self._data)
        found = await self._looks.look(self.kept.open, self.kept.rises)
        self.looked_at = self._clock.now()
        still, changes = next_alerts(self.kept.open, found.troubles, found.unknown, self._clock.now())
        self._kept = self.kept.model_copy(update={"open": still, "rises": found.rises})
        for alert, is_over in changes:
            level = logging.INFO if is_over else LEVELS[kind_of(alert.kind).severity]
            LOG.log(level, "%s", alert_sentence(alert.kind, alert.subject, alert.facts, is_over))
            self._queue(alert, "alert.over" if is_over else "alert.begun")
        await self._write()
        self._wake()

    def _queue(self, alert: OpenAlert, event: Event) -> None:
        kept = self.kept
        notice = Notice(
            id=f"alert_{self._ids.unique()}",
            number=kept.number + 1,
            event=event,
            kind=alert.kind,
            subject=alert.subject,
            facts=alert.facts,
            begun_at=alert.begun_at,
            at=timestamps.to_text(self._clock.now()),
        )
        kept = kept.model_copy(update={"number": notice.number})
        for name in self.ways:
            kept = kept.with_waiting(name, [*kept.waiting_of(name), Waiting(notice=notice)][-MOST_WAITING:])
        self._kept = kept

    def _wake(self) -> None:
        now = self._clock.now()
        for way in self._ways:
            waiting = self.kept.waiting_of(way.name)
            under_way = self._sending.get(way.name)
            is_free = under_way is None or under_way.done()
            if waiting and is_free and is_due(waiting[0], now) and not self._is_stopped:
                self._sending[way.name] = asyncio.ensure_future(self._send(way))

    async def _send(self, way: Channel) -> None:
        """Send the waiting notices of a channel, the oldest first. If a notice cannot be sent, stop."""
        while waiting := self.kept.waiting_of(way.name):
            first = waiting[0]
            try:
                error = (await way.send(first.notice, first.attempts + 1)).error
            except Exception as unforeseen:
                LOG.exception("an alert could not be sent through alerts.%s", way.name)
                error = str(unforeseen) or type(unforeseen).__name__
            self._note(way.name, first, error)
            await self._write()
            if error is not None:
                return

    def _note(self, way: ChannelName, sent: Waiting, error: str | None) -> None:
        """Store the result of an attempt to send a notice. `error` is None if the notice was sent.

        A notice that could not be sent waits for the next attempt. It is dropped if wmsd stops trying, or if newer
        notices have filled the queue meanwhile.
        """
        now, kept = self._clock.now(), self.kept
        others = [each for each in kept.waiting_of(way) if each.notice.id != sent.notice.id]
        what = f"alerts cannot be sent through alerts.{way}"
        if error is None:
            self._told.over(what)
            self._kept = kept.with_waiting(way, others).with_failure(way, None)
            return
        self._told.failed(what, NotSent(error[:LONGEST_ERROR]))
        again = after_failure(sent, now)
        if again is None:
            LOG.error(
                "alert %s could not be sent through alerts.%s for a day, and wmsd stopped trying",
                sent.notice.id,
                way,
            )
        at = timestamps.to_text(now)
        before = kept.failures.get(way)
        failure = Failure(since=at if before is None else before.since, at=at, error=error[:LONGEST_ERROR])
        is_there = len(others) < len(kept.waiting_of(way))
        left = others if again is None or not is_there else [again, *others]
        self._kept = kept.with_waiting(way, left).with_failure(way, failure)

    async def _write(self) -> None:
        async with self._writing:
            kept = self._kept = self.kept.only_of(self.ways)
            if kept == self._written:
                return
            with self._told.trying(UNWRITTEN, OSError):
                await asyncio.to_thread(write_alerts, self._data, kept)
                self._written = kept

    async def stop(self) -> None:
        """Stop sending. Notices that are still waiting are sent after the next start."""
        self._is_stopped = True
        tasks = [task for task in self._sending.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for way in self._ways:
            with suppress(Exception):
                await way.close()
