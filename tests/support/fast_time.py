"""All time of a process runs faster, monotonic time too: libfaketime and a file that says how fast."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.moved_clock import LIBRARY
from tests.support.programs import library


@dataclass
class FastTime:
    file: Path

    @classmethod
    def made(cls, file: Path) -> "FastTime":
        time = cls(file)
        time.run(1)
        return time

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(library(LIBRARY)),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
        }

    def run(self, speed: int) -> None:
        """So fast from now on, and as if it had from the start of the process."""
        unfinished = self.file.with_name(f"{self.file.name}.new")
        unfinished.write_text(f"+0 x{speed}\n")
        unfinished.replace(self.file)
