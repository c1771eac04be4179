"""Reads the frames of a write-ahead log. Each frame contains a page.

See the file format, section 4.1 (https://sqlite.org/fileformat.html#the_write_ahead_log).
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

LOG_HEADER: Final = struct.Struct("> 8x I 4x 8s 8x")
"""The fields that wmsd reads from a log's header: the page size, and the salts, which each frame repeats."""
FRAME_HEADER: Final = struct.Struct("> I I 8s 8x")
"""The fields that wmsd reads from a frame's header: the number of the page, the size of the file in pages, and the
salts. The size is 0 unless the frame ends a commit.
"""
PAGE_SIZES: Final = frozenset(1 << power for power in range(9, 17))
LOG_HEADER_BYTES: Final = LOG_HEADER.size
FRAME_HEADER_BYTES: Final = FRAME_HEADER.size


def pages_in(log: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content of each page in the log, the oldest first.

    Raise OSError if the log cannot be read.

    The file may contain frames of an earlier log after the end of this log: they are skipped. Pages of a
    rolled-back transaction are included.
    """
    header = log.read(LOG_HEADER_BYTES)
    if len(header) < LOG_HEADER_BYTES:
        return
    page_bytes, salts = LOG_HEADER.unpack(header)
    if page_bytes not in PAGE_SIZES:
        return
    while len(frame := log.read(FRAME_HEADER_BYTES + page_bytes)) == FRAME_HEADER_BYTES + page_bytes:
        number, _, found = FRAME_HEADER.unpack(frame[:FRAME_HEADER_BYTES])
        if found != salts:
            return
        yield number, frame[FRAME_HEADER_BYTES:]
