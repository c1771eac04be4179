"""A wall clock that runs fast and can be made to leap, and that several processes go by.

It stands in a small file and goes on while nobody looks: a server that is killed and started again finds the time
that has passed.
"""

import mmap
import struct
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

FIELDS = struct.Struct("4d")
"""Seconds since 1970 at its beginning, the machine's monotonic seconds then, its speed, how far it leapt."""


class FastClock:
    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._fields = mmap.mmap(opened.fileno(), FIELDS.size)

    @classmethod
    def make(cls, file: Path, speed: float) -> Self:
        file.write_bytes(FIELDS.pack(time.time(), time.monotonic(), speed, 0.0))
        return cls(file)

    def now(self) -> datetime:
        began, monotonic, speed, leapt = FIELDS.unpack(self._fields[:])
        return datetime.fromtimestamp(began + (time.monotonic() - monotonic) * speed + leapt, UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def passed(self) -> float:
        began, monotonic, speed, _ = FIELDS.unpack(self._fields[:])
        return float(began + (time.monotonic() - monotonic) * speed)

    def leap(self, by: timedelta) -> None:
        *fields, leapt = FIELDS.unpack(self._fields[:])
        self._fields[:] = FIELDS.pack(*fields, leapt + by.total_seconds())
