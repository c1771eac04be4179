"""The system's clock, moved under a process: libfaketime and a file that says where it stands.

Monotonic time is left alone, as it is when a clock is set.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.support.programs import library

LIBRARY = "faketime/libfaketimeMT.so.1"


@dataclass
class MovedClock:
    file: Path

    @classmethod
    def made(cls, file: Path) -> "MovedClock":
        clock = cls(file)
        clock.stand(timedelta())
        return clock

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(library(LIBRARY)),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def stand(self, off: timedelta) -> None:
        """Off by so much from now on."""
        unfinished = self.file.with_name(f"{self.file.name}.new")
        unfinished.write_text(f"{off.total_seconds():+.0f}\n")
        unfinished.replace(self.file)
