"""The frames of a write-ahead log, each with a page: the file format, section 4.1
(https://sqlite.org/fileformat.html#the_write_ahead_log).
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

LOG_HEADER: Final = struct.Struct("> 8x I 4x 8s 8x")
"""The page size, and the salts that are repeated in each frame."""
FRAME_HEADER: Final = struct.Struct("> I I 8s 8x")
"""The page, the pages of the file after a commit (0 in a frame that ends none), and the salts."""
PAGE_SIZES: Final = frozenset(1 << power for power in range(9, 17))
LOG_HEADER_BYTES: Final = LOG_HEADER.size
FRAME_HEADER_BYTES: Final = FRAME_HEADER.size


def pages_in(log: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The number and the content of each page in the log, the oldest first. Frames that an earlier log has left
    behind the end of this one are passed over. Those of a transaction that was rolled back are not. Raises
    OSError.
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
