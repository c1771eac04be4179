"""How much of the processors the machine gave to others, where it is a virtual one: waits of then say little."""

from pathlib import Path
from typing import Final, NamedTuple

STAT: Final = Path("/proc/stat")
MUCH: Final = 0.05
"""The share of the processors' time, from which on waits are measured again."""


class Ticks(NamedTuple):
    """Ticks of all processors since the system's start (proc(5), `/proc/stat`)."""

    stolen: int
    total: int

    def share_since(self, before: "Ticks") -> float:
        """The share that was stolen since then."""
        return (self.stolen - before.stolen) / max(self.total - before.total, 1)


def ticks() -> Ticks:
    """The ticks until now; none where the system does not tell."""
    if not STAT.exists():
        return Ticks(0, 0)
    name, *fields = STAT.read_text(encoding="ascii").partition("\n")[0].split()
    assert name == "cpu", name
    numbers = [int(each) for each in fields[:8]]
    return Ticks(numbers[7], sum(numbers))
