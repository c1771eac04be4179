"""Reads the lines of a log: first from the rotated files, the oldest file first, and then from the current file.
Can also follow the lines that are added later.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

LOOK_SECONDS: Final = 0.25
LONGEST_LINE: Final = 1024 * 1024
"""The most bytes of a line. A longer line is returned in parts."""
MOST_NUMBERED: Final = 1000


class LogFiles:
    """The files of a log. `path` is the file that is written now; `path.1` is the previous file, and so on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(
        self, since: datetime | None = None, most_bytes: int | None = None, is_followed: bool = False
    ) -> Iterator[str | None]:
        """Yield the lines of all files. The oldest file comes first.

        Read only files that were written after `since`, and at most the last `most_bytes` bytes of all files
        together. Raise OSError if a file cannot be read.

        If `is_followed` is True, never stop: also yield the lines that are added later, even after a rotation.
        Yield None whenever no new line is available.
        """
        with ExitStack() as ends:
            files = self._opened(ends, since)
            sizes = [os.fstat(file.fileno()).st_size for file in files]
            left_out = 0 if most_bytes is None else max(0, sum(sizes) - most_bytes)
            if _is_before(os.fstat(files[-1].fileno()), since):
                left_out = sum(sizes)
            for file, size in zip(files, sizes, strict=True):
                start = min(size, left_out)
                left_out -= start
                file.seek(start)
                if 0 < start < size:
                    file.readline(LONGEST_LINE)
                while line := file.readline(LONGEST_LINE):
                    if is_followed and not line.endswith(b"\n") and file is files[-1]:
                        file.seek(-len(line), os.SEEK_CUR)  # the line is still being written
                        break
                    yield _text(line)
            if is_followed:
                yield from self._added(files[-1])

    def _added(self, file: BinaryIO) -> Iterator[str | None]:
        unfinished = b""
        try:
            while True:
                piece = file.readline(LONGEST_LINE)
                if not piece and (following := self._after(file)) is not None:
                    piece = file.readline(LONGEST_LINE)  # the lines that were written before the rename
                    if not piece:
                        file.close()
                        file = following
                        continue
                    following.close()
                unfinished += piece
                if unfinished.endswith(b"\n") or len(unfinished) >= LONGEST_LINE:
                    yield _text(unfinished)
                    unfinished = b""
                if not piece:
                    yield None
                    time.sleep(LOOK_SECONDS)
        finally:
            file.close()

    def _after(self, file: BinaryIO) -> BinaryIO | None:
        """Open the file that was written after `file`. Return None if `file` is the newest one. Also return None
        if the next file was renamed just now.

        The files may have been renamed several times since the last check.
        """
        status = os.fstat(file.fileno())
        newer: Path | None = None
        for path in self._paths():
            with suppress(FileNotFoundError):
                if _identity(path.stat()) == _identity(status):
                    break
                newer = path
        else:
            newer = self._path  # the file was deleted, or is older than the remaining files
        if newer is None:
            if status.st_size < file.tell():
                file.seek(0)  # another program has truncated the file
            return None
        return self._unless_renamed(newer)

    def _unless_renamed(self, path: Path) -> BinaryIO | None:
        """Open and return the file. Return None if it was renamed before it was open; the caller then repeats its
        search.
        """
        with suppress(FileNotFoundError):
            before = _identity(path.stat())
            file = path.open("rb")
            if _identity(os.fstat(file.fileno())) == before:
                return file
            file.close()
        return None

    def _opened(self, ends: ExitStack, since: datetime | None) -> list[BinaryIO]:
        """Open and return the files that were written after `since`. The oldest file comes first.

        The newest file is always included. `ends` closes the files at the end. The inode identifies a file, so
        that a file that is renamed during the search is not opened twice.
        """
        found: dict[tuple[int, int], BinaryIO] = {}
        for path in self._paths():
            try:
                file = ends.enter_context(path.open("rb"))
            except FileNotFoundError:
                if path == self._path:
                    raise
                break
            status = os.fstat(file.fileno())
            if path != self._path and _is_before(status, since):
                break
            found.setdefault(_identity(status), file)
        return list(reversed(found.values()))

    def _paths(self) -> Iterator[Path]:
        yield self._path
        for number in range(1, MOST_NUMBERED):
            path = self._path.with_name(f"{self._path.name}.{number}")
            if not path.exists():
                return
            yield path


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_before(status: os.stat_result, since: datetime | None) -> bool:
    return since is not None and status.st_mtime < since.timestamp()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")
