"""The head of a request while it arrives: its size limit, and its beginning.

The beginning decides how wmsd answers a head that is too large. aiohttp limits only the number of headers and the
size of each header. A head can therefore have a megabyte, and one client address can have hundreds of connections.
So wmsd also limits the size of the whole head.
"""

import re
from typing import Final

LARGEST_HEADER: Final = 16_380
"""The maximum number of bytes of one header.

The Cookie header may be large, because browsers send the cookies of all ports of the host.
"""
MOST_HEADERS: Final = 64
"""The maximum number of headers of a request. For a pipelined request, only this limit and `LARGEST_HEADER` apply,
and not `LARGEST_HEAD`.
"""
LARGEST_HEAD: Final = 64 * 1024
BEGINNING: Final = 2048
"""The number of bytes from the beginning of a head that wmsd stores. Browsers send the Accept headers before the
cookies, so the Accept headers are in these bytes.
"""
END_OF_HEAD: Final = b"\r\n\r\n"
OF_THE_API: Final = re.compile(rb"[A-Z]+ /(api|openapi\.json)[/? ]")
READS_PAGES: Final = re.compile(rb"\r\naccept:[^\r]*\btext/html\b", re.IGNORECASE)
LANGUAGES: Final = re.compile(rb"\r\naccept-language:([^\r]*)\r", re.IGNORECASE)


class RequestHead:
    __slots__ = ("_end", "_length", "beginning")

    def __init__(self) -> None:
        self.beginning = b""
        self._length = 0
        self._end: bytes | None = b""
        """The last bytes that arrived, at most three; None once the head is complete."""

    def is_too_large_with(self, data: bytes) -> bool:
        """Return True if `data`, the next bytes, make the head too large. Bytes after the end of the head do not
        count.
        """
        if self._end is None:
            return False
        if not self._length:
            data = data.lstrip(b"\r\n")  # HTTP parsers skip empty lines before a head, too
            self.beginning = data[:BEGINNING]
        end = data.find(END_OF_HEAD)
        self._length += len(data) if end < 0 else end
        if end >= 0 or END_OF_HEAD in self._end + data[:3]:
            self._end = None
        else:
            self._end = (self._end + data[-3:])[-3:]
        return self._length > LARGEST_HEAD

    @property
    def reads_pages(self) -> bool:
        """True if a person's browser has sent the head to get a page."""
        return READS_PAGES.search(self.beginning) is not None and not OF_THE_API.match(self.beginning)

    @property
    def languages(self) -> str:
        """The value of the Accept-Language header, or ""."""
        found = LANGUAGES.search(self.beginning)
        return found[1].decode("latin-1").strip() if found else ""
