"""The files that a process has open, as the system tells it."""

from contextlib import suppress
from pathlib import Path

DELETED = " (deleted)"


def open_files(folder: Path, process: int | str = "self") -> list[str]:
    """The names of those in the folder, one for each time that they are open; those deleted say so."""
    found = []
    for number in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile, as that of the listing itself
            target = number.readlink()
            if target.parent == folder:
                found.append(target.name)
    return sorted(found)
