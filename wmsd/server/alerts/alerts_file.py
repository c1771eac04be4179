"""What is remembered of alerts: a file in the data folder, for it must work while `platform.db` does not."""

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
    """`subject`: which of its kind, such as `7`, a company's id."""

    kind: str
    subject: str = ""
    facts: dict[str, str] = {}
    begun_at: str


class OpenAlert(Alert):
    """`gone_at`: since when the trouble is gone; the alert is over when it stays so for a while."""

    gone_at: str | None = None


class Rise(StoredModel):
    """How many deliveries of a company were given up, and when the number has grown last."""

    count: int
    at: str


class Notice(Alert):
    """What is told once. `id` is the same at each attempt."""

    id: str
    number: int
    event: Event
    at: str


class Waiting(StoredModel):
    """A notice that one way has not taken yet."""

    notice: Notice
    attempts: int = 0
    next_at: str | None = None


class Failure(StoredModel):
    """Of a way: what its last attempt came to, and since when it fails."""

    since: str
    at: str
    error: str


class Kept(StoredModel):
    open: list[OpenAlert] = []
    rises: dict[int, Rise] = {}
    waiting: dict[ChannelName, list[Waiting]] = {}
    failures: dict[ChannelName, Failure] = {}
    number: int = 0
    """That of the last notice."""

    def waiting_of(self, way: ChannelName) -> list[Waiting]:
        return self.waiting.get(way, [])

    def with_waiting(self, way: ChannelName, waiting: list[Waiting]) -> "Kept":
        return self.model_copy(update={"waiting": {**self.waiting, way: waiting}})

    def with_failure(self, way: ChannelName, failure: Failure | None) -> "Kept":
        failures = {**self.failures, way: failure}
        known = {name: each for name, each in failures.items() if each is not None}
        return self.model_copy(update={"failures": known})

    def only_of(self, ways: Collection[ChannelName]) -> "Kept":
        """A way that the settings name no more has nothing that waits, and no failure."""
        waiting = {name: each for name in ways if (each := self.waiting_of(name))}
        failures = {name: each for name, each in self.failures.items() if name in ways}
        return self.model_copy(update={"waiting": waiting, "failures": failures})


def read_alerts(data: Path) -> Kept:
    """Nothing is remembered where the file is not there, or cannot be read."""
    return read_json_file(data / FILE, Kept(), MOST_READ)


def as_of(data: Path) -> str:
    """When what is remembered has changed last, as it stands in a sentence."""
    try:
        at = datetime.fromtimestamp((data / FILE).stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return ""
    return f", written down at {timestamps.to_text(at)}"


def write_alerts(data: Path, kept: Kept) -> None:
    """Raises OSError."""
    write_json_file(data / FILE, kept)
