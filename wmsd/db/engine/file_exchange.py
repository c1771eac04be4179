"""Detects whether another program has replaced the database file to which a write-ahead log belongs.

Example: a person copies an old version over the file, namely the version that the file had when the log began.
SQLite accepts such a log. It replays the log, which silently undoes the copying.

To detect this, the first transaction of a log records the identity of its database file. From then on, wmsd writes
to this file only by copying pages from the log. So if the file has changed but contains no page of the log,
another program has written the file.

A person may also have copied the whole folder, for example to another disk. In this case the log is a copy too,
and the identities of the files prove nothing.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.db.engine.sqlite import log_of
from wmsd.db.engine.wal_frames import pages_in
from wmsd.db.engine.wal_identity import LogRow, row_in

LARGEST: Final = 2**63 - 1
"""The largest integer that SQLite stores. Inodes can be larger on some file systems: up to 2**64."""


class Found(NamedTuple):
    """The identity of a database file and of its write-ahead log. `file` and `log` are inodes. `modified` and
    `changed` are times of the database file in nanoseconds.

    `modified` is the time when the content was last modified. A program that copies a file may preserve this time.
    `changed` is the time when the content or the metadata last changed. Only the system sets this time.
    """

    file: int
    modified: int
    changed: int
    log: int


def find_file_and_log(path: Path) -> Found:
    """Return the identity of the file and of its write-ahead log. Raise OSError if one of them is missing."""
    path = path.resolve()  # SQLite's other files are in the folder of the resolved path
    file, log = os.stat(path), os.stat(log_of(path))  # noqa: PTH116  # a Path takes twice as long
    return Found(file.st_ino & LARGEST, file.st_mtime_ns, file.st_ctime_ns, log.st_ino & LARGEST)


def rows_of_log(path: Path) -> list[LogRow]:
    """Return all versions of the one row of the table `log` that are in the write-ahead log of `path`. Each
    version has the name of this log and the identity of its database file.

    Return an empty list if the write-ahead log is a copy. Some versions may come from a transaction that was
    rolled back.

    The function reads the log without SQLite, because SQLite would find the row by the schema of the database
    file. A person may have replaced that file. Raise OSError if the log cannot be read.
    """
    log = log_of(path.resolve())
    inode = log.stat().st_ino & LARGEST
    with log.open("rb") as file:
        rows = [row_in(page) for _, page in pages_in(file)]
    return [row for row in rows if row is not None and row.found_log == inode]


def was_exchanged(path: Path, row: LogRow) -> bool:
    """Return True if the file at `path` is not the one that `row` identifies. `row` comes from the write-ahead log
    of this path.

    The function compares the inode, the times and the pages. Call it only if no process has the file open, and if
    the page with `row` was not yet copied from the log into the file. Raise OSError if the file cannot be read.
    """
    found = find_file_and_log(path)
    is_written = found.modified != row.found_modified and found.changed > row.found_changed
    return (found.file != row.found_file or is_written) and not _has_page_of_log(path.resolve())


def _has_page_of_log(path: Path) -> bool:
    """Return True if a page of the file is exactly as in its write-ahead log. This shows that wmsd has written
    the file: wmsd was killed while it copied pages from the log into the file.
    """
    with path.open("rb") as file, log_of(path).open("rb") as log:
        for number, page in pages_in(log):
            file.seek((number - 1) * len(page))
            if file.read(len(page)) == page:
                return True
    return False
