"""Stores the last requests of each company, in memory and in files.

The event loop only adds each request to a queue. A thread masks, formats and writes the queued requests in groups.
A crash therefore loses the requests of the last 0.25 seconds. No error here affects the answer to a request.
"""

import asyncio
import logging
import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.machine.batches import Batches
from wmsd.base.problems import Problem
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.data_folder.disk_space import check_space
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.request_history import lines as entries
from wmsd.request_history.files import Segments
from wmsd.request_history.lines import Entry, Taken
from wmsd.request_history.recent import Recent
from wmsd.settings.sections.fields import MEGABYTE
from wmsd.settings.sections.requests import Requests

Result = TypeVar("Result")
LOG: Final = logging.getLogger("wmsd.requests")
EVERY_SECONDS: Final = 0.25
MOST_WAITING: Final = 1000
"""How many requests may wait for a slow disk. Further requests are not stored."""
ONE_REFUSAL_A: Final = timedelta(seconds=1)
"""If a rate limit refuses many requests of a company, wmsd stores only one of them in this time. The refused
requests do not displace the other requests.
"""
READS_A_SECOND: Final = 5
"""The maximum number of stored successful reads of a company per second. The default rate limit allows one read
per second. If a company has a high limit, storing all reads reduces the server's speed by a tenth.
"""
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
END: Final = 2**62
"""A position after every request."""
NOT_IN_FILES: Final = "requests are stored in memory only"
NOT_READ: Final = "files of stored requests cannot be read"
NOT_KEPT: Final = "a request cannot be stored"
TOO_MANY: Final = "requests arrive faster than wmsd can store them"
OFF: Final = (
    "This installation does not store requests, because `requests.keep` is false in the settings. "
    "A platform admin can change the setting."
)


class RequestHistory:
    def __init__(
        self, folder: Path, settings: Requests, clock: Clock, platform: Database, abilities: Collection[str]
    ) -> None:
        """Create the history. `folder` is a folder within the data folder. `abilities` are the abilities that
        tokens may have in this installation.
        """
        self.platform = platform
        self.clock = clock
        self.is_on = settings.keep
        self._folder = folder
        self._days = settings.days
        self._abilities = abilities
        self._told = RepeatedFailures(LOG, (StorageError, RuntimeError), monotonic=clock.monotonic)
        has_failed = partial(self._told.failed, NOT_KEPT)  # the next requests are stored again
        self._batches = Batches[Taken](
            "wmsd-requests", self.write_waiting, has_failed, EVERY_SECONDS, MOST_WAITING
        )
        self.take = self._batches.take
        self._lock = threading.Lock()
        """A thread holds this lock while it stores requests, or while it finds out which requests are stored."""
        self._looking = asyncio.Lock()
        """A lock that allows one search at a time, because a search uses the processor."""
        self._recent = Recent()
        self._segments = Segments(folder, settings.megabytes * MEGABYTE)
        self._last: dict[int, int] = {}
        """The position of each company's last request."""
        self._limited_at: dict[int, datetime] = {}
        self._left_out: Counter[int] = Counter()
        self._reads: dict[int, int] = {}
        """The number of stored reads of each company in the current second of the monotonic clock."""
        self._second = 0

    # --- on the event loop ---------------------------------------------------------------------------------------

    def wants(self, company_id: int, method: str, status: int) -> bool:
        """Return True if the request must be stored.

        wmsd stores all refused requests, all requests that write, and a limited number of reads per second.
        """
        if status >= 400 or method not in SAFE_METHODS:
            return True
        second = int(self.clock.monotonic())
        if second != self._second:
            self._second, self._reads = second, {}
        kept = self._reads.get(company_id, 0)
        if kept >= READS_A_SECOND:
            return False
        self._reads[company_id] = kept + 1
        return True

    # --- on a thread ---------------------------------------------------------------------------------------------

    def write_waiting(self) -> None:
        """Store the requests in the queue."""
        with self._lock:
            groups: dict[int, list[bytes]] = {}
            first: dict[int, int] = {}
            for _ in range(len(self._batches.waiting)):
                taken = self._batches.waiting.popleft()
                company_id = taken.company.id
                line = self._line(taken)
                if line is not None:
                    groups.setdefault(company_id, []).append(line)
                    first.setdefault(company_id, self._last[company_id])
                    self._recent.add(company_id, line)
            if groups:
                self._write(groups, first)
            if lost := self._batches.count_lost():
                self._told.failed(TOO_MANY, RuntimeError(f"not stored: {lost}"))

    def _line(self, taken: Taken) -> bytes | None:
        """Return the line that stores a request.

        Return None if the line cannot be formatted. If the rate limit refuses many requests of a company, return
        only one line per second for them, and None for the others.
        """
        company_id = taken.company.id
        if taken.status == 429:
            since = taken.at - self._limited_at.get(company_id, datetime.min.replace(tzinfo=taken.at.tzinfo))
            if timedelta(0) <= since < ONE_REFUSAL_A:
                self._left_out[company_id] += 1
                return None
            self._limited_at[company_id] = taken.at
        try:
            left_out = self._left_out.pop(company_id, 0) if taken.status == 429 else 0
            return entries.line_of(taken, self._next(company_id, taken.at), self._abilities, left_out)
        except Exception as error:
            self._told.failed(NOT_KEPT, error, taken.request_id)
            return None

    def _next(self, company_id: int, at: datetime) -> int:
        """Return the position of a new request: its time in microseconds since 1970.

        Positions of a company always grow. If the time is not later than the previous request's position, return
        this position plus 1.
        """
        last = self._last.get(company_id)
        if last is None:
            try:
                last = self._segments.last(company_id)
            except OSError:
                last = 0
        place = self._last[company_id] = max(last + 1, timestamps.microseconds(at))
        return place

    def _write(self, groups: dict[int, list[bytes]], first: dict[int, int]) -> None:
        """Append the lines to the files. If the disk has too little space, the requests stay only in memory."""
        with self._told.trying(NOT_IN_FILES, OSError, StorageError):
            check_space(self._folder.parent, 0)
            for company_id, lines in groups.items():
                self._segments.append(company_id, first[company_id], b"".join(lines))

    def forget_old(self) -> None:
        """Delete each file whose newest request is older than the settings allow. If the settings say that no
        requests are stored, delete all files. Raise OSError if a file cannot be deleted.
        """
        until = (self.clock.now() - timedelta(days=self._days)).timestamp() if self.is_on else math.inf
        with self._lock:
            self._segments.forget(until)

    def close(self) -> None:
        """Store the requests that are still in the queue."""
        self._batches.close(EVERY_SECONDS * 20)
        if self._batches.waiting:
            self.write_waiting()

    # --- reading -------------------------------------------------------------------------------------------------

    async def look(self, find: Callable[[], Result]) -> Result:
        """Run `find` on a thread and return its result. Searches run one after the other. A search continues if
        its caller disconnects. Raise Problem (403) if this installation stores no requests.
        """
        if not self.is_on:
            raise Problem("FORBIDDEN", OFF)

        async def in_turn() -> Result:
            async with self._looking:
                return await asyncio.to_thread(find)

        return await asyncio.shield(asyncio.ensure_future(in_turn()))

    def newest_first(self, company_id: int, before: int, containing: bytes = b"") -> Iterator[Entry | None]:
        """Yield the company's requests before the position `before`, the newest first.

        If `containing` is given, yield only the requests whose line contains these bytes. Yield None for each
        other line.
        """
        self.write_waiting()
        with self._lock:
            recent, segments = self._recent.of(company_id), self._segments.of(company_id)
        for line in self._lines(company_id, recent, segments, before, containing):
            entry = entries.read(line) if containing in line else None
            if entry is None or entry.sequence >= before:
                yield None
            else:
                before = entry.sequence
                yield entry

    def _lines(
        self, company_id: int, recent: list[bytes], segments: list[int], before: int, containing: bytes
    ) -> Iterator[bytes]:
        yield from recent
        for segment in reversed(segments):
            if segment >= before:
                continue
            try:
                found = self._segments.read(company_id, segment)
            except OSError as error:
                self._told.failed(NOT_READ, error)
                continue
            if containing in found:
                yield from reversed(found.split(b"\n"))
