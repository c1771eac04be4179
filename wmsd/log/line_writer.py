"""The log's lines of requests. They are formatted and written in groups, on a thread: one by one, they would take
longer than the requests that they tell of.

Whatever else is logged is written at once, after the lines that wait: the log keeps its order. A crash loses the
lines of the last moment.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.machine.batches import Batches
from wmsd.base.plurals import count_of

REQUESTS: Final = logging.getLogger("wmsd.request")
EVERY_SECONDS: Final = 0.2
AT_ONCE: Final = 500
"""Lines in one write."""
MOST_WAITING: Final = 20_000
"""Lines that wait for a slow disk. Further ones are lost, and counted."""


class RequestLine(NamedTuple):
    """`fields` are what a record has beside its message; `reason` is added to the message."""

    created: float
    method: str
    path: str
    status: int
    milliseconds: float
    reason: str
    fields: Mapping[str, object]

    @property
    def message(self) -> str:
        return f"{self.method} {self.path} {self.status} {self.milliseconds:.1f} ms{self.reason}"

    def record(self) -> logging.LogRecord:
        own = {
            "name": REQUESTS.name,
            "levelno": logging.INFO,
            "levelname": "INFO",
            "msg": "%s",
            "args": (self.message,),
        }
        return logging.makeLogRecord({**self.fields, **own, "created": self.created})


def log_request(line: RequestLine) -> None:
    """Hands the line to each handler of the log."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, GroupedLines):
            handler.take(line)
        else:
            handler.handle(line.record())


class GroupedLines(logging.Handler):
    """A handler that takes lines of requests, and writes them later; its formatter formats them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._batches = Batches[RequestLine](
            "wmsd-log", self.write_waiting, self._goes_on, EVERY_SECONDS, MOST_WAITING
        )
        self.take = self._batches.take

    def _goes_on(self, error: Exception) -> None:
        """Without memory the lines wait for the next try."""

    def write_waiting(self) -> None:
        """Writes the lines that wait."""
        waiting = self._batches.waiting
        if not self._batches.has_some:
            return
        self.acquire()
        try:
            while waiting:
                group = [waiting.popleft() for _ in range(min(AT_ONCE, len(waiting)))]
                self._write_group(group)
            if lost := self._batches.count_lost():
                requests = count_of(lost, "request was", "requests were")
                sentence = f"{requests} not logged: the log could not be written as fast as they came"
                own = {"name": REQUESTS.name, "levelno": logging.WARNING, "levelname": "WARNING", "msg": sentence}
                super().emit(logging.makeLogRecord(own))
        finally:
            self.release()

    def _write_group(self, group: list[RequestLine]) -> None:
        formatter: Any = self.formatter
        try:
            self._write("".join(f"{formatter.format_request(line)}\n" for line in group))
        except Exception:  # as logging itself: a log that cannot be written disturbs nothing else
            self._has_failed()

    def _write(self, text: str) -> None:
        """Writes whole lines. Raises what the disk says."""
        raise NotImplementedError

    def _has_failed(self) -> None:
        """Called when a group could not be written."""

    def emit(self, record: logging.LogRecord) -> None:
        self.write_waiting()
        super().emit(record)

    def flush(self) -> None:
        self.write_waiting()
        super().flush()

    def close(self) -> None:
        self.write_waiting()
        self._batches.close()
        super().close()
