"""The share of processor time that a virtual machine's host gave to others.

A high share makes measured waits meaningless.
"""

from pathlib import Path
from typing import Final, NamedTuple

STAT: Final = Path("/proc/stat")
MUCH: Final = 0.05
"""The share of stolen processor time, from 0 to 1, at which a measurement of waits is repeated."""


class Ticks(NamedTuple):
    """Ticks of all processors since the system started (proc(5), `/proc/stat`)."""

    stolen: int
    total: int

    def share_since(self, before: "Ticks") -> float:
        """Return the share of processor time, from 0 to 1, that the host gave to others since `before`."""
        return (self.stolen - before.stolen) / max(self.total - before.total, 1)


def ticks() -> Ticks:
    """Return the ticks until now, or 0 if the system does not report them."""
    if not STAT.exists():
        return Ticks(0, 0)
    name, *fields = STAT.read_text(encoding="ascii").partition("\n")[0].split()
    assert name == "cpu", name
    numbers = [int(each) for each in fields[:8]]
    return Ticks(numbers[7], sum(numbers))
