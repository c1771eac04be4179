"""The log's lines of requests. They are formatted and written in groups, on a thread: one by one, they would take
longer than the requests that they tell of.

Whatever else is logged is written at once, after the lines that wait: the log keeps its order. A crash loses the
lines of the last moment.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

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


class FormatsRequests(Protocol):
    def format_request(self, line: RequestLine) -> str: ...


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
        self._waiting: deque[RequestLine] = deque()
        self._lost = 0
        self._some = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, line: RequestLine) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._lost += 1
            return
        self._waiting.append(line)
        if not self._some.is_set():
            self._some.set()
            if self._thread is None:
                self._begin()

    def _begin(self) -> None:
        """While there can be no thread, lines are written with the next record, and each line tries again."""
        thread = threading.Thread(target=self._write_groups, name="wmsd-log", daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            self._some.clear()
        else:
            self._thread = thread

    def _write_groups(self) -> None:
        while not self._is_closed.is_set():
            try:
                self._some.wait()
                self._is_closed.wait(EVERY_SECONDS)  # so that there is a group
                self._some.clear()
                self.write_waiting()
            except MemoryError:
                time.sleep(EVERY_SECONDS)

    def write_waiting(self) -> None:
        """Writes the lines that wait."""
        if not self._waiting and not self._lost:
            return
        self.acquire()
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                self._write_group(group)
            self._tell_lost()
        finally:
            self.release()

    def _write_group(self, group: list[RequestLine]) -> None:
        formatter: Any = self.formatter
        try:
            self._write("".join(f"{formatter.format_request(line)}\n" for line in group))
        except Exception:  # as logging itself: a log that cannot be written disturbs nothing else
            self._has_failed()

    def _tell_lost(self) -> None:
        lost, self._lost = self._lost, 0
        if lost:
            requests = count_of(lost, "request was", "requests were")
            sentence = f"{requests} not logged: the log could not be written as fast as they came"
            own = {"name": REQUESTS.name, "levelno": logging.WARNING, "levelname": "WARNING", "msg": sentence}
            super().emit(logging.makeLogRecord(own))

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
        self._is_closed.set()
        self._some.set()
        super().close()
