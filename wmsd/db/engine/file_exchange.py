"""Detects that the file beside a log was exchanged since the log began: that it is not the one that wmsd wrote.

A copy that somebody puts back may have the very content that the file had when its log began. Then the log fits,
and replaying it would undo silently what the copy was put there for. So the first transaction of a log notes which
file it found beside it. From then on only pages of the log come into that file. A file that was written since, and
has no page of the log, was put there by somebody else.

A whole folder may have been copied, to another disk for example. Its log is another file then too, and nothing
follows from the identities of the files.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.db.engine.sqlite import log_of
from wmsd.db.engine.wal_frames import pages_in
from wmsd.db.engine.wal_identity import LogRow, row_in

LARGEST: Final = 2**63 - 1
"""That SQLite stores as an integer. Some file systems number their files up to 2**64."""


class Found(NamedTuple):
    """A file and its log. `file` and `log` are inodes. The moments are those of the file in nanoseconds: when its
    content was modified, which a copy may have kept, and when anything of it was, which the system alone sets.
    """

    file: int
    modified: int
    changed: int
    log: int


def find_file_and_log(path: Path) -> Found:
    """The file and its log as they are now. Raises OSError."""
    path = path.resolve()  # SQLite's own files stand beside it
    file, log = os.stat(path), os.stat(log_of(path))  # noqa: PTH116  # a Path takes twice as long
    return Found(file.st_ino & LARGEST, file.st_mtime_ns, file.st_ctime_ns, log.st_ino & LARGEST)


def rows_of_log(path: Path) -> list[LogRow]:
    """What the log beside the file says of itself and of the file that it has found, each time that it was named.
    It says nothing when it is a copy. A transaction that was rolled back may be among them. Raises OSError.

    SQLite would look for them by the schema of the file that stands there, which may be of another file.
    """
    log = log_of(path.resolve())
    inode = log.stat().st_ino & LARGEST
    with log.open("rb") as file:
        rows = [row_in(page) for _, page in pages_in(file)]
    return [row for row in rows if row is not None and row.found_log == inode]


def was_exchanged(path: Path, row: LogRow) -> bool:
    """Whether the file is another one than its log has found, by what both hold too. No process may have it open,
    and nothing of the row may have been written back to it. Raises OSError.
    """
    found = find_file_and_log(path)
    is_written = found.modified != row.found_modified and found.changed > row.found_changed
    return (found.file != row.found_file or is_written) and not _has_page_of_log(path.resolve())


def _has_page_of_log(path: Path) -> bool:
    """Whether any page of the file is as the log has it: the last to write it back was killed half-way."""
    with path.open("rb") as file, log_of(path).open("rb") as log:
        for number, page in pages_in(log):
            file.seek((number - 1) * len(page))
            if file.read(len(page)) == page:
                return True
    return False
