"""A wrong system clock for one process: libfaketime moves the clock by the time that a file says.

Monotonic time does not change, as when the clock of a machine is set.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.support.programs import library

LIBRARY = "faketime/libfaketimeMT.so.1"


def steered_by(file: Path) -> dict[str, str]:
    """Return the environment of a process whose time is controlled by the file."""
    return {
        "LD_PRELOAD": str(library(LIBRARY)),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
    }


def lay_down(file: Path, text: str) -> None:
    """Write the file in one step, because the process may read it at any moment."""
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.write_text(text)
    unfinished.replace(file)


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
        monotonic = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0"}
        return {**steered_by(self.file), **monotonic}  # the "fix" makes threads wait too long for each other

    def stand(self, off: timedelta) -> None:
        """From now on, let the process see the machine's time plus `off`, in whole seconds."""
        lay_down(self.file, f"{off.total_seconds():+.0f}\n")
