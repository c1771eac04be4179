"""Detection of a database file that another program has put in the place of the file to which the log belongs.

A person may copy an old version of the file over the file. If that version has exactly the content with which the
log began, the log fits it. Replaying the log would then silently undo the copying. Therefore the first transaction
of a log records the identity of its file. From then on, only pages of the log are written into that file. If the
file has been written since and contains no page of the log, another program has written it.

A whole folder may have been copied, for example to another disk. Then the log is a copy too, and the identities of
the files prove nothing.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.db.engine.sqlite import log_of
from wmsd.db.engine.wal_frames import pages_in
from wmsd.db.engine.wal_identity import LogRow, row_in

LARGEST: Final = 2**63 - 1
"""The largest integer that SQLite stores. Some file systems number their files up to 2**64."""


class Found(NamedTuple):
    """The identity of a file and of its log. `file` and `log` are inodes. The times belong to the file and are in
    nanoseconds.

    `modified` is the time when the content was modified. A copy may preserve it. `changed` is the time when the
    content or the metadata last changed. Only the system sets it.
    """

    file: int
    modified: int
    changed: int
    log: int


def find_file_and_log(path: Path) -> Found:
    """Return the file and its log as they are now. Raise OSError if one is missing."""
    path = path.resolve()  # SQLite's other files are in the folder of the resolved path
    file, log = os.stat(path), os.stat(log_of(path))  # noqa: PTH116  # a Path takes twice as long
    return Found(file.st_ino & LARGEST, file.st_mtime_ns, file.st_ctime_ns, log.st_ino & LARGEST)


def rows_of_log(path: Path) -> list[LogRow]:
    """Return all versions of the row of the table `log` that are in the log. Each version contains the name of the
    log and the identity of its file.

    Return an empty list if the log is a copy. Some rows may come from a transaction that was rolled back. SQLite
    is not used, because it would use the schema of the present file, which may be another file. Raise OSError if
    the file cannot be read.
    """
    log = log_of(path.resolve())
    inode = log.stat().st_ino & LARGEST
    with log.open("rb") as file:
        rows = [row_in(page) for _, page in pages_in(file)]
    return [row for row in rows if row is not None and row.found_log == inode]


def was_exchanged(path: Path, row: LogRow) -> bool:
    """Return True if the file is not the one that `row` identifies. `row` comes from the file's log.

    The function compares the inode, the times and the pages. Call it only if no process has the file open and the
    page with the row was not yet copied from the log into the file. Raise OSError if the file cannot be read.
    """
    found = find_file_and_log(path)
    is_written = found.modified != row.found_modified and found.changed > row.found_changed
    return (found.file != row.found_file or is_written) and not _has_page_of_log(path.resolve())


def _has_page_of_log(path: Path) -> bool:
    """Return True if the file contains a page exactly as it is in the log. Then wmsd has written the file: it was
    killed while it copied pages from the log into the file.
    """
    with path.open("rb") as file, log_of(path).open("rb") as log:
        for number, page in pages_in(log):
            file.seek((number - 1) * len(page))
            if file.read(len(page)) == page:
                return True
    return False
