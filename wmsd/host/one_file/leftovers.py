"""Removes the temporary folders of programs that were killed."""

import fcntl
import os
import shutil
import stat
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from wmsd.base.machine.descriptors import open_descriptor
from wmsd.host.one_file import STARTED, UNPACKED

PREFIX: Final = "_MEI"
MOST_LOOKED_AT: Final = 100_000
"""Entries of the temporary folder, which anybody may fill."""
LONGEST_UNPACKING_SECONDS: Final = 600.0
"""A younger folder that no program has started in may be one that is just being unpacked."""


def remove_left(temporary: Path) -> int:
    """Removes the folders there that wmsd has unpacked itself into as this user, and that nobody uses any more.
    Returns how many.
    """
    with os.scandir(temporary) as entries:
        first = islice(entries, MOST_LOOKED_AT)
        unpacked = [Path(entry.path) for entry in first if entry.name.startswith(PREFIX)]
    removed = 0
    for folder in unpacked:
        with suppress(OSError):  # somebody else uses it, or was quicker
            if _is_left(folder):
                shutil.rmtree(folder)
                removed += 1
    return removed


def _is_left(folder: Path) -> bool:
    """Raises BlockingIOError when a program runs from it, and OSError."""
    with open_descriptor(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) as descriptor:
        found = os.fstat(descriptor)
        is_of_others = found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != stat.S_IRWXU
        names = os.listdir(descriptor)  # noqa: PTH208  (of this very folder)
        if is_of_others or UNPACKED not in names:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return STARTED in names or time.time() - found.st_mtime > LONGEST_UNPACKING_SECONDS
