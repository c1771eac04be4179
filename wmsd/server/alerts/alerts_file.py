"""Stores the state of alerts. The state is in a file in the data folder, because alerts must work while
`platform.db` does not.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from wmsd.base import timestamps
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file

FILE: Final = "alerts.json"
MOST_READ: Final = 4 * 1024 * 1024
ChannelName = Literal["url", "command", "mail"]
Event = Literal["alert.begun", "alert.over", "alert.test"]


class Alert(StoredModel):
    """An alert. `subject` says which object the alert is about, such as a company's id, or ""."""

    kind: str
    subject: str = ""
    facts: dict[str, str] = {}
    begun_at: str


class OpenAlert(Alert):
    """An open alert. `gone_at` is the time when the problem disappeared, or None while the problem lasts.

    The alert is over once the problem has stayed away for two minutes.
    """

    gone_at: str | None = None


class Rise(StoredModel):
    """The webhook deliveries of a company that wmsd has stopped trying to send, after the last attempt failed.
    `count` is their number, and `at` the time when this number last grew.
    """

    count: int
    at: str


class Notice(Alert):
    """A message that an alert has begun or is over, or a test message. `number` is its serial number. If an
    attempt to send the message fails, wmsd repeats the attempt with the same `id`.
    """

    id: str
    number: int
    event: Event
    at: str


class Waiting(StoredModel):
    """A notice that a channel has not accepted yet. `attempts` is the number of failed attempts. `next_at` is the
    time of the next attempt, or None before the first attempt.
    """

    notice: Notice
    attempts: int = 0
    next_at: str | None = None


class Failure(StoredModel):
    """A failure of a channel. `error` and `at` are the error and the time of the last attempt. All attempts since
    the time `since` have failed.
    """

    since: str
    at: str
    error: str


class Kept(StoredModel):
    open: list[OpenAlert] = []
    rises: dict[int, Rise] = {}
    waiting: dict[ChannelName, list[Waiting]] = {}
    failures: dict[ChannelName, Failure] = {}
    number: int = 0
    """The serial number of the newest notice."""

    def waiting_of(self, way: ChannelName) -> list[Waiting]:
        return self.waiting.get(way, [])

    def with_waiting(self, way: ChannelName, waiting: list[Waiting]) -> "Kept":
        return self.model_copy(update={"waiting": {**self.waiting, way: waiting}})

    def with_failure(self, way: ChannelName, failure: Failure | None) -> "Kept":
        failures = {**self.failures, way: failure}
        known = {name: each for name, each in failures.items() if each is not None}
        return self.model_copy(update={"failures": known})

    def only_of(self, ways: Collection[ChannelName]) -> "Kept":
        """Return the state without the waiting notices and failures of channels that are not in `ways`."""
        waiting = {name: each for name in ways if (each := self.waiting_of(name))}
        failures = {name: each for name, each in self.failures.items() if name in ways}
        return self.model_copy(update={"waiting": waiting, "failures": failures})


def read_alerts(data: Path) -> Kept:
    """Return the stored state, or an empty state if there is no file or the file cannot be read."""
    return read_json_file(data / FILE, Kept(), MOST_READ)


def as_of(data: Path) -> str:
    """Return the time of the last change of the stored state, as a phrase such as ", as of
    2026-11-20T13:25:00.123Z". Return "" if this time is not known.
    """
    try:
        at = datetime.fromtimestamp((data / FILE).stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return ""
    return f", as of {timestamps.to_text(at)}"


def write_alerts(data: Path, kept: Kept) -> None:
    """Store the state. Raise OSError if the file cannot be written."""
    write_json_file(data / FILE, kept)
