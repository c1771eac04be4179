"""Reads a snapshot as the bytes of one file. The pages in the write-ahead log replace those in the database file.

A database file contains the name of its log. These bytes have a new log name instead. Someone may later replace
the database file with a copy of these bytes, and leave the old log next to it. The copy then contains another log
name than the old log, so wmsd does not apply the old log to the copy (see `write_ahead_log.py`).
"""

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular, reason_of
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import Extent
from wmsd.db.engine.sqlite import log_of
from wmsd.db.engine.wal_frames import FRAME_HEADER, FRAME_HEADER_BYTES, LOG_HEADER, LOG_HEADER_BYTES
from wmsd.db.engine.wal_identity import with_new_id

PIECE_BYTES: Final = 1024 * 1024
FILE_HEADER: Final = struct.Struct("> 16x H 10x I")
"""The part of a database file's header with the page size and the number of pages."""


class StateBytes:
    """A reader of the bytes of a snapshot.

    Open it before this process has any connection to the file, and close it after all connections are closed. The
    reason is that closing a file descriptor removes the process's locks on the file (see `raw_files.py`).
    """

    def __init__(self, path: Path) -> None:
        """Open the file. Raise StorageError if that fails."""
        self.path = path
        self.bytes = 0
        """The number of bytes of the snapshot. It is known after `begin`."""
        self._pages: dict[int, int] = {}
        """The position in the write-ahead log of the newest content of each page. The key is the page number."""
        self._page_bytes = 0
        self._name_page = 0
        with _as_sentences(path), ExitStack() as opened:
            check_regular(path)
            self._file = opened.enter_context(FileIO(path))
            self._log_file: FileIO | None = None
            self._opened = opened.pop_all()

    def begin(self, extent: Extent) -> None:
        """Find the pages of the snapshot that `extent` describes. Raise StorageError if the file or the log was
        replaced.
        """
        with _as_sentences(self.path):
            status = os.fstat(self._file.fileno())
            if (status.st_dev, status.st_ino) != extent.file:
                raise StorageError(f"{self.path} was replaced while it was copied.")
            header = os.pread(self._file.fileno(), 100, 0)
            if len(header) < 100:
                raise StorageError(f"{self.path} is incomplete.")
            self._page_bytes, pages = FILE_HEADER.unpack(header[: FILE_HEADER.size])
            self._page_bytes = 65_536 if self._page_bytes == 1 else self._page_bytes
            if extent.log_bytes:
                pages = self._find_pages(extent.log_bytes)
            self.bytes, self._name_page = pages * self._page_bytes, extent.name_page

    def _find_pages(self, log_bytes: int) -> int:
        """Record the position of each page's newest content in the write-ahead log. Return how many pages the
        snapshot has.
        """
        self._log_file = self._opened.enter_context(FileIO(log_of(self.path)))
        log, pages = self._log_file.fileno(), 0
        header = os.pread(log, LOG_HEADER_BYTES, 0)
        if len(header) < LOG_HEADER_BYTES:
            raise StorageError(f"{log_of(self.path)} was truncated while it was copied.")
        page_bytes, salts = LOG_HEADER.unpack(header)
        for place in range(LOG_HEADER_BYTES, log_bytes, FRAME_HEADER_BYTES + page_bytes):
            head = os.pread(log, FRAME_HEADER_BYTES, place)
            number, pages, found = FRAME_HEADER.unpack(head) if len(head) == FRAME_HEADER_BYTES else (0, 0, b"")
            if found != salts:
                raise StorageError(f"{log_of(self.path)} changed while it was copied.")
            self._pages[number] = place + FRAME_HEADER_BYTES
        return pages

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes in pieces. Raise StorageError, for example if the file is too short."""
        at_once = max(1, PIECE_BYTES // self._page_bytes)
        for first in range(1, self.bytes // self._page_bytes + 1, at_once):
            last = min(first + at_once - 1, self.bytes // self._page_bytes)
            with _as_sentences(self.path):
                piece = self._piece(first, last)
            yield piece

    def _piece(self, first: int, last: int) -> bytes:
        size = self._page_bytes
        piece = bytearray(os.pread(self._file.fileno(), (last - first + 1) * size, (first - 1) * size))
        in_log = [number for number in range(first, last + 1) if number in self._pages]
        missing = range(first + len(piece) // size, last + 1)
        if any(number not in self._pages for number in missing):
            raise StorageError(f"{self.path} is incomplete.")
        piece.extend(bytes((last - first + 1) * size - len(piece)))
        for number in in_log:
            assert self._log_file is not None
            at = (number - first) * size
            page = os.pread(self._log_file.fileno(), size, self._pages[number])
            if len(page) < size:
                raise StorageError(f"{log_of(self.path)} was truncated while it was copied.")
            piece[at : at + size] = page
        if first <= self._name_page <= last:
            at = (self._name_page - first) * size
            piece[at : at + size] = with_new_id(bytes(piece[at : at + size]))
        return bytes(piece)

    def close(self) -> None:
        self._opened.close()


@contextmanager
def _as_sentences(path: Path) -> Iterator[None]:
    """Convert an OSError to a StorageError, because callers write the bytes to another disk. They would take an
    OSError for an error of that disk.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {reason_of(error)}.") from error
