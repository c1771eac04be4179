"""A wall clock that runs fast, can jump, and is shared by several processes.

The state of the clock is in a small file and does not depend on a running process. A server that is killed and
started again finds the time that has passed.
"""

import mmap
import struct
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

FIELDS = struct.Struct("4d")
"""The state: seconds since 1970 at the start, the machine's monotonic seconds at that time, the speed, and the sum
of all jumps in seconds.
"""


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
