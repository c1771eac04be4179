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
"""The maximum number of entries of the temporary folder that are checked. It is limited because any user may fill
this folder.
"""
LONGEST_UNPACKING_SECONDS: Final = 600.0
"""A folder in which no program has started is removed only when it is older than this. Until then, wmsd may still
be unpacking itself into the folder.
"""


def remove_left(temporary: Path) -> int:
    """Remove the folders in `temporary` that wmsd has unpacked as this user and that no process uses any more.

    Return how many folders were removed.
    """
    with os.scandir(temporary) as entries:
        first = islice(entries, MOST_LOOKED_AT)
        unpacked = [Path(entry.path) for entry in first if entry.name.startswith(PREFIX)]
    removed = 0
    for folder in unpacked:
        with suppress(OSError):  # another process uses the folder, or has already removed it
            if _is_left(folder):
                shutil.rmtree(folder)
                removed += 1
    return removed


def _is_left(folder: Path) -> bool:
    """Return True if the folder can be removed. Raise BlockingIOError if a program uses the folder, and OSError if
    the folder cannot be read.
    """
    with open_descriptor(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) as descriptor:
        found = os.fstat(descriptor)
        is_of_others = found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != stat.S_IRWXU
        names = os.listdir(descriptor)  # noqa: PTH208  (the descriptor names exactly this folder)
        if is_of_others or UNPACKED not in names:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return STARTED in names or time.time() - found.st_mtime > LONGEST_UNPACKING_SECONDS
