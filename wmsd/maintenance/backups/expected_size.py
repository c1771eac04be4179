"""Estimates the size of an archive before it is created."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from isal import igzip

from wmsd.base.machine.regular_files import check_regular
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.raw_files import unopened_file
from wmsd.db.engine.sqlite import file_bytes, log_bytes
from wmsd.maintenance.backups.archive import LEVEL, read_manifest

MARGIN: Final = 1.1
PIECES: Final = 64
PIECE_BYTES: Final = 256 * 1024
SHARE: Final = 0.5
"""The assumed size of an archive if no file can be read. It is a fraction of the size of the files."""


def expected_bytes(files: Sequence[Path], archives: Sequence[Path]) -> int:
    """Estimate the size in bytes of the next archive of these files.

    Use the compression ratio of the last archive in `archives` that can be read. If there is none, compress
    samples of the files.
    """
    return round(sum(map(_content_bytes, files)) * _share(files, archives) * MARGIN)


def _content_bytes(file: Path) -> int:
    """Return the size of the file or of its write-ahead log in bytes, whichever is larger.

    The sum of both sizes would be too large, because most pages in the log replace pages of the file.
    """
    return max(file_bytes(file), log_bytes(file))


def _share(files: Sequence[Path], archives: Sequence[Path]) -> float:
    for archive in reversed(archives):
        with suppress(StorageError, OSError):
            return archive.stat().st_size / max(1, read_manifest(archive).bytes)
    return _share_of(_some_of(files))


def _share_of(pieces: Iterable[bytes]) -> float:
    before = after = 0
    for piece in pieces:
        before += len(piece)
        after += len(igzip.compress(piece, LEVEL))
    return after / before if before else SHARE


def _some_of(files: Sequence[Path]) -> Iterator[bytes]:
    """Yield samples that are evenly spread over all files. Skip files that this process has open."""
    step = max(PIECE_BYTES, sum(map(file_bytes, files)) // PIECES)
    at = 0
    for file in files:
        size = file_bytes(file)
        with suppress(OSError), unopened_file(file.resolve()) as is_unopened:
            if is_unopened:
                yield from _pieces(file, range(at, size, step))
        at = (at - size) % step


def _pieces(file: Path, places: Iterable[int]) -> Iterator[bytes]:
    check_regular(file)
    with file.open("rb") as opened:
        for place in places:
            opened.seek(place)
            yield opened.read(PIECE_BYTES)
