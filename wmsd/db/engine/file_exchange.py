"""Detection of a file that was exchanged after its log began, so that it is not the file that wmsd wrote.

A copy that a person puts back may have exactly the content that the file had when its log began. Then the log fits
the copy. Replaying the log would silently undo the purpose of the copy. Therefore the first transaction of a log
records which file it found. From then on only pages of the log are written into that file. If a file was written
since and contains no page of the log, another program put it there.

A whole folder may have been copied, for example to another disk. Then the log is another file too, and the
identities of the files prove nothing.
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
    """A file and its log. `file` and `log` are inodes. The times belong to the file and are in nanoseconds.

    `modified` is when its content was modified, which a copy may preserve. `changed` is when its content or its
    metadata last changed, which only the system sets.
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
    """Return every version of the row of the table `log` that the log contains. Each row has a name of the log,
    and identifies the file that the log was begun for.

    The list is empty if the log is a copy. It may contain rows of a transaction that was rolled back. The rows are
    found without SQLite, which would use the schema of the present file, and this may be another file. Raise
    OSError if the file cannot be read.
    """
    log = log_of(path.resolve())
    inode = log.stat().st_ino & LARGEST
    with log.open("rb") as file:
        rows = [row_in(page) for _, page in pages_in(file)]
    return [row for row in rows if row is not None and row.found_log == inode]


def was_exchanged(path: Path, row: LogRow) -> bool:
    """Return True if the file is not the one that `row`, a row of its log, identifies, judged by inode, times and
    pages.

    No process may have the file open, and the page with the row must not have been written back to the file. Raise
    OSError if the file cannot be read.
    """
    found = find_file_and_log(path)
    is_written = found.modified != row.found_modified and found.changed > row.found_changed
    return (found.file != row.found_file or is_written) and not _has_page_of_log(path.resolve())


def _has_page_of_log(path: Path) -> bool:
    """Return True if any page of the file has the same content in the log. Then wmsd has written to the file: a
    write-back was killed halfway.
    """
    with path.open("rb") as file, log_of(path).open("rb") as log:
        for number, page in pages_in(log):
            file.seek((number - 1) * len(page))
            if file.read(len(page)) == page:
                return True
    return False
