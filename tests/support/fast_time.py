"""Makes all time of a process run faster, monotonic time too, with libfaketime and a file that holds the speed."""

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
        """Let time run at this multiple of the real speed.

        The clock jumps to the time that it would show now if the process had run at this speed from its start.
        """
        lay_down(self.file, f"+0 x{speed}\n")
