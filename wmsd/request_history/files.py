"""The files of stored requests. Each company has a folder of files, which are called segments.

Lines are only appended. The name of a segment is the position of its first line. When all segments together are
too large, wmsd deletes the oldest segment of the company with the most bytes. Therefore a company with many
requests never displaces the requests of another company.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from wmsd.request_history import lines as entries

IN_ALL: Final = 50
"""The maximum size of all segments together is this many times the size of a full segment."""
LEAST_BYTES: Final = 64 * 1024
DAY: Final = 86_400 * 1_000_000
"""The maximum time between the first and the last line of a segment: one day, in microseconds. wmsd deletes old
lines by deleting whole segments.
"""
SUFFIX: Final = ".jsonl"
LONGEST_LINE: Final = 256 * 1024
"""A number of bytes that is larger than every line."""


class Segments:
    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._full = max(LEAST_BYTES, most_bytes // IN_ALL)
        self._sizes: dict[int, dict[int, int]] | None = None
        """The size of each segment, by company id and by the position of the segment's first line. The oldest
        segment of a company comes first.
        """
        self._bytes = 0

    def append(self, company_id: int, first: int, lines: bytes) -> None:
        """Append lines. `first` is the position of the first line. Raise OSError if the lines cannot be
        written.
        """
        own = self._known().setdefault(company_id, {})
        segment = next(reversed(own), None)
        if segment is None or own[segment] >= self._full or first - segment > DAY:
            segment = first
        path = self._path(company_id, segment)
        try:
            size = self._write(path, lines)
        except FileNotFoundError:  # the folder does not exist yet, or a person has removed it
            path.parent.parent.mkdir(mode=0o700, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            size = self._write(path, lines)
        self._bytes += size - own.get(segment, 0)
        own[segment] = size
        self._keep_within_bounds()

    def last(self, company_id: int) -> int:
        """Return the position of the company's last line, or 0 if there is no line."""
        for segment in reversed(self.of(company_id)):
            for line in reversed(self.read(company_id, segment, LONGEST_LINE).split(b"\n")):
                if (entry := entries.read(line)) is not None:
                    return entry.sequence
            return segment
        return 0

    def of(self, company_id: int) -> list[int]:
        """Return the company's segments, each as the position of its first line. The oldest comes first."""
        return list(self._known().get(company_id, ()))

    def read(self, company_id: int, segment: int, last_bytes: int | None = None) -> bytes:
        """Return the lines of a segment, or only its last `last_bytes` bytes. Return no bytes if the segment was
        deleted. Raise OSError if the segment cannot be read.
        """
        try:
            with self._path(company_id, segment).open("rb") as file:
                if last_bytes is not None:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - last_bytes))
                return file.read()
        except FileNotFoundError:
            return b""

    def forget(self, before: float) -> None:
        """Delete the segments that were last written before `before`, in seconds since 1970. Raise OSError if a
        segment cannot be deleted.
        """
        known = [(company_id, segment) for company_id, own in self._known().items() for segment in own]
        for company_id, segment in known:
            try:
                is_old = self._path(company_id, segment).stat().st_mtime < before
            except FileNotFoundError:
                is_old = True
            if is_old:
                self._remove(company_id, segment)

    def _known(self) -> dict[int, dict[int, int]]:
        """Return the size of each segment, by company id and by the position of its first line.

        The first call reads the sizes from the folder. Raise OSError if the folder cannot be read.
        """
        if self._sizes is None:
            found: dict[int, dict[int, int]] = {}
            for path in sorted(self._folder.glob(f"*/*{SUFFIX}")):
                if path.stem.isdecimal() and path.parent.name.isdecimal():
                    found.setdefault(int(path.parent.name), {})[int(path.stem)] = path.stat().st_size
            self._sizes = {company_id: dict(sorted(own.items())) for company_id, own in found.items()}
            self._bytes = sum(map(_total, found.values()))
        return self._sizes

    def _write(self, path: Path, lines: bytes) -> int:
        """Append lines and return the size of the file. A crash or a full disk may have cut off the last line in
        the file. In this case, begin a new line first.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "ab", 0) as file:
            size = os.fstat(file.fileno()).st_size
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                lines = b"\n" + lines
            written = file.write(lines)
            if written < len(lines):
                file.write(lines[written:])  # the second write raises the error of the disk
        return size + len(lines)

    def _keep_within_bounds(self) -> None:
        known = self._known()
        while self._bytes > self._most_bytes:
            largest = max(known, key=lambda company_id: _total(known[company_id]))
            self._remove(largest, next(iter(known[largest])))

    def _remove(self, company_id: int, segment: int) -> None:
        path = self._path(company_id, segment)
        path.unlink(missing_ok=True)
        own = self._known()[company_id]
        self._bytes -= own.pop(segment)
        if not own:
            del self._known()[company_id]
            with suppress(OSError):  # a person has put other files there
                path.parent.rmdir()

    def _path(self, company_id: int, segment: int) -> Path:
        return self._folder / str(company_id) / f"{segment}{SUFFIX}"


def _total(sizes: dict[int, int]) -> int:
    return sum(sizes.values())
