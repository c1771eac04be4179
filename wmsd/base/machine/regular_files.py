"""Checks of a file before its whole content is read. Reading a FIFO blocks, and reading a device may never end."""

import errno
import os
import stat
from pathlib import Path
from typing import Final

NOT_REGULAR: Final = "it is not a regular file"
IS_DATABASE: Final = "it is a database"
OF_DATABASE: Final = b"SQLite format 3\0"
"""The first bytes of a database file (SQLite's file format, 1.3.1)."""


def check_regular(path: Path) -> None:
    """Raise OSError if the path is not a regular file."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))


def check_no_database(path: Path) -> None:
    """Raise OSError if the file is a database. A caller that appends lines of text would damage it."""
    with path.open("rb") as file:
        if file.read(len(OF_DATABASE)) == OF_DATABASE:
            raise OSError(errno.EINVAL, IS_DATABASE, str(path))


def reason_of(error: OSError) -> str:
    """Return the reason for the error in the words of the operating system, as part of a sentence."""
    return (error.strerror or str(error)).lower()
