"""Writes the request lines of the log, on a thread and in groups.

Writing each line separately takes longer than the requests themselves. A record that is not a request line is
written immediately, but after the request lines that wait. So the log stays in order. A crash loses the lines of
the last 0.2 seconds.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.machine.batches import Batches
from wmsd.base.plurals import count_of

REQUESTS: Final = logging.getLogger("wmsd.request")
EVERY_SECONDS: Final = 0.2
AT_ONCE: Final = 500
"""The most lines in one write."""
MOST_WAITING: Final = 20_000
"""The most lines that wait for a slow disk. Further lines are lost, and counted."""


class RequestLine(NamedTuple):
    """A request line of the log. `created` is in seconds since 1970. `fields` are the extra fields of the record;
    `reason` is added to the message.
    """

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
    """Pass the line to each handler of the log."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, GroupedLines):
            handler.take(line)
        else:
            handler.handle(line.record())


class GroupedLines(logging.Handler):
    """A log handler that collects request lines, and writes them later in groups."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._batches = Batches[RequestLine](
            "wmsd-log", self.write_waiting, self._goes_on, EVERY_SECONDS, MOST_WAITING
        )
        self.take = self._batches.take

    def _goes_on(self, error: Exception) -> None:
        """Ignore the error of a failed write. The thread tries again to write the lines that are still in the
        queue.
        """

    def write_waiting(self) -> None:
        """Write the lines that wait."""
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
                sentence = f"{requests} not logged, because the log could not be written fast enough"
                own = {"name": REQUESTS.name, "levelno": logging.WARNING, "levelname": "WARNING", "msg": sentence}
                super().emit(logging.makeLogRecord(own))
        finally:
            self.release()

    def _write_group(self, group: list[RequestLine]) -> None:
        formatter: Any = self.formatter
        try:
            self._write("".join(f"{formatter.format_request(line)}\n" for line in group))
        except Exception:  # as in logging itself: a log that cannot be written must not disturb other work
            self._has_failed()

    def _write(self, text: str) -> None:
        """Write whole lines. Raise OSError or ValueError if they cannot be written."""
        raise NotImplementedError

    def _has_failed(self) -> None:
        """Handle a group that could not be written. Subclasses may override this."""

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
