"""The files that a process has open, as the operating system reports them."""

from contextlib import suppress
from pathlib import Path

DELETED = " (deleted)"


def open_files(folder: Path, process: int | str = "self") -> list[str]:
    """Return the names of the open files in the folder, once for each time a file is open.

    Deleted files are marked.
    """
    found = []
    for number in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile, such as the descriptor of the listing itself
            target = number.readlink()
            if target.parent == folder:
                found.append(target.name)
    return sorted(found)
