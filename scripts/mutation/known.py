"""The known breakages that no test notices, each with the reason why this is acceptable: `survivors.txt`.

    wmsd/base/quantity.py to_text
    - whole, fraction = divmod(abs(millionths), SCALE)
    + whole, fraction = divmod(abs(millionths), 1000001)
    The reason, on one line or more.

An empty line ends each entry. A breakage is identified by its text, not by a number, so that other changes do not
affect it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("survivors.txt")


@dataclass(frozen=True, slots=True)
class Breakage:
    """A change to a function: the lines that it removes and the lines that it adds."""

    file: str
    function: str
    lines: tuple[str, ...]

    @property
    def is_same_sql(self) -> bool:
        """True if only the case of letters in an SQL statement differs, which makes no difference to SQLite."""
        before, *after = (line[2:] for line in self.lines)
        if ".execute(" not in before or "'" in before:  # the case of a quoted text inside a statement matters
            return False
        return [before.casefold()] == [line.casefold() for line in after]

    def __str__(self) -> str:
        return "\n".join([f"{self.file} {self.function}", *self.lines])


def read() -> Mapping[Breakage, str]:
    """Return the reasons by breakage. Raise ValueError for an entry without a reason."""
    found = {}
    for entry in FILE.read_text(encoding="utf-8").split("\n\n"):
        head, *rest = entry.strip().splitlines() or [""]
        if not head or head.startswith("#"):
            continue
        lines = tuple(line for line in rest if line.startswith(("- ", "+ ")))
        reason = " ".join(rest[len(lines) :])
        file, _, function = head.partition(" ")
        if not (function and lines and reason):
            raise ValueError(f"{FILE.name}: {head}: an entry needs a function, lines and a reason")
        found[Breakage(file, function, lines)] = reason
    return found
