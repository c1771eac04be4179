"""All time of a process runs faster, monotonic time too: libfaketime and a file that says how fast."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.moved_clock import lay_down, steered_by


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
        return steered_by(self.file)

    def run(self, speed: int) -> None:
        """So fast from now on, and as if it had from the start of the process."""
        lay_down(self.file, f"+0 x{speed}\n")
