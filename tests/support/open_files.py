"""The files that this process has open, as the system tells it."""

from contextlib import suppress
from pathlib import Path

DELETED = " (deleted)"


def open_files(folder: Path) -> list[str]:
    """The names of those in the folder, one for each time that they are open; those deleted say so."""
    found = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the listing itself
            target = number.readlink()
            if target.parent == folder:
                found.append(target.name)
    return sorted(found)
