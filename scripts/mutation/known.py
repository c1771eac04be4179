"""Breakages that are known to go unnoticed, each with the reason why that may be: `survivors.txt`.

    wmsd/base/quantity.py to_text
    - whole, fraction = divmod(abs(millionths), SCALE)
    + whole, fraction = divmod(abs(millionths), 1000001)
    The reason, on one line or more.

An empty line ends each. They are known by their text, not by a number, so that other changes leave them known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("survivors.txt")


@dataclass(frozen=True, slots=True)
class Breakage:
    """One change to a function: the lines that it takes away and those that it puts there."""

    file: str
    function: str
    lines: tuple[str, ...]

    @property
    def is_same_sql(self) -> bool:
        """Whether it only writes a statement in other letters, large or small: to SQLite that is the same."""
        before, *after = (line[2:] for line in self.lines)
        if ".execute(" not in before or "'" in before:  # a text within a statement is another one
            return False
        return [before.casefold()] == [line.casefold() for line in after]

    def __str__(self) -> str:
        return "\n".join([f"{self.file} {self.function}", *self.lines])


def read() -> Mapping[Breakage, str]:
    """The reasons. Raises ValueError for an entry without one."""
    found = {}
    for entry in FILE.read_text(encoding="utf-8").split("\n\n"):
        head, *rest = entry.strip().splitlines() or [""]
        if not head or head.startswith("#"):
            continue
        lines = tuple(line for line in rest if line.startswith(("- ", "+ ")))
        reason = " ".join(rest[len(lines) :])
        file, _, function = head.partition(" ")
        if not (function and lines and reason):
            raise ValueError(f"{FILE.name}: {head}: an entry has a function, lines and a reason")
        found[Breakage(file, function, lines)] = reason
    return found
