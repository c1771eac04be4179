"""The archive of a backup: a tar file, compressed with gzip. `tar` can extract it without wmsd.

Each entry is a separate gzip member (RFC 1952, section 2.2). One file can therefore be extracted without reading
the others, and a partly copied entry can be cut off. The last entry is the manifest.

The archive ends with an empty gzip member. The header of this member has an extra field (section 2.3.1.1) with the
offset of the manifest. Every gzip reader skips the extra field. The idea comes from eStargz.
"""

import hashlib
import os
import struct
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple

from isal import igzip, igzip_threaded, isal_zlib

from wmsd.base.machine.private_files import new_durable
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.file_swap import sync
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups import manifest as manifests
from wmsd.maintenance.backups.folder import UNFINISHED
from wmsd.maintenance.backups.manifest import Manifest

LEVEL: Final = 1
"""The compression level. ISA-L has the levels 0 to 3. Levels above 1 save a few percent, but take twice the time.
"""
BLOCK: Final = 512
END: Final = struct.Struct("< 10s H 2s H Q 10s")
"""The layout of the empty gzip member at the end of an archive. The header and the length of the extra field come
first. The extra field has an id, a length, and the offset of the manifest.
"""
END_HEAD: Final = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 255))
MEMBER_HEAD: Final = bytes((0x1F, 0x8B, 8, 0))
"""The start of every gzip member with content: compressed with deflate, no flags. The empty member at the end has
a different start.
"""
END_ID: Final = b"WM"
END_TAIL: Final = bytes((3, 0)) + bytes(8)
MOST_COMPRESSED: Final = 1032
"""The largest number of bytes that deflate can store in one byte (zlib's technical details)."""
MOST_MANIFEST_BYTES: Final = 256 * 1024 * 1024
PIECE_BYTES: Final = 1024 * 1024
MODE: Final = 0o600
ISAL_ERROR: Final[Any] = isal_zlib.error  # the type stubs do not declare a class
DAMAGES: Final = (tarfile.HeaderError, igzip.BadGzipFile, ISAL_ERROR, EOFError)


class NotRead(StorageError):
    """The error if the archive's bytes cannot be read from the disk. The archive itself may be good or damaged."""


class Added(NamedTuple):
    """The result of adding an entry: its offset in the archive, and the checksum of its content."""

    at: int
    sha256: str


class ArchiveWriter:
    """Writes entries, and then the manifest, to a file that is open for writing."""

    def __init__(self, file: IO[bytes], modified: datetime) -> None:
        self._file = file
        self._modified = int(modified.timestamp())

    def add(self, name: str, size: int, pieces: Iterable[bytes]) -> Added:
        """Add an entry with the content `pieces`. If that fails, leave the archive unchanged.

        Raise StorageError if `pieces` do not have `size` bytes in total. Raise OSError if the archive cannot be
        written. Also raise any error of the iterator `pieces`.
        """
        at = self._file.tell()
        digest, left = hashlib.sha256(), size
        try:
            with _opened(self._file, "wb") as gzip:
                gzip.write(self._header(name, size))
                for piece in pieces:
                    digest.update(piece)
                    gzip.write(piece)
                    left -= len(piece)
                gzip.write(bytes(-size % BLOCK))
            if left:
                raise StorageError(f"{name} has {size - left} bytes instead of {size}.")
        except BaseException:
            self._file.seek(at)
            self._file.truncate()
            raise
        return Added(at, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and the end of the archive. Raise OSError if that fails."""
        text = manifest.model_dump_json(indent=1).encode()
        entry = self._header(manifests.NAME, len(text)) + text + bytes(-len(text) % BLOCK + 2 * BLOCK)
        at = self._file.tell()
        self._file.write(igzip.compress(entry, LEVEL))
        self._file.write(END.pack(END_HEAD, 12, END_ID, 8, at, END_TAIL))

    def _header(self, name: str, size: int) -> bytes:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = size, MODE, self._modified
        return info.tobuf(tarfile.GNU_FORMAT)


@contextmanager
def new_archive(path: Path, moment: datetime) -> Iterator[ArchiveWriter]:
    """Create an archive, and yield its writer. The archive appears at `path` only when it is complete and on the
    disk.

    `moment` is the modification time of all entries. Raise OSError if the archive cannot be written. After any
    failure, no file is left.
    """
    unfinished = path.with_name(f"{UNFINISHED}{path.name}")
    unfinished.unlink(missing_ok=True)
    try:
        with new_durable(unfinished) as file:
            yield ArchiveWriter(file, moment)
        unfinished.rename(path)
        sync(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def readable_manifests(archives: Iterable[Path]) -> Iterator[tuple[Path, Manifest]]:
    """Yield the path and the manifest of each archive. Skip archives whose manifest cannot be read."""
    for path in archives:
        with suppress(StorageError):
            yield path, read_manifest(path)


def scheduled_archives(archives: Iterable[Path], installation: str) -> dict[Path, Manifest]:
    """Return the manifests of the archives that a schedule of `installation` created, by path. Archives that
    cannot be read are skipped.
    """
    return {
        path: manifest
        for path, manifest in readable_manifests(archives)
        if manifest.installation == installation and manifest.by_schedule
    }


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of an archive. Raise StorageError if the file is not an archive of wmsd or is
    truncated.
    """
    with _as_sentences(path), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END.size))
        at = _manifest_at(file.read())
        if at is None or at >= size - END.size:
            raise StorageError(
                f"{path} is not a backup of wmsd, or it is incomplete: the end of the archive is missing."
            )
        _seek_member(file, at)
        with _opened(file, "rb") as gzip:
            entry = _next_entry(gzip, path)
            if entry is None or entry.name != manifests.NAME or entry.size > MOST_MANIFEST_BYTES:
                raise StorageError(
                    f"{path} is damaged: its manifest is not at the expected position. Copy the archive "
                    "again, "
                    "or use another archive."
                )
            manifest = manifests.parsed(b"".join(entry.pieces()), str(path))
        _check_sizes(path, manifest, at)
        return manifest


def _check_sizes(path: Path, manifest: Manifest, end: int) -> None:
    """Raise StorageError if an entry has too few bytes for the size of its file in the manifest. The check does
    not unpack the entry.

    `end` is the offset of the manifest.
    """
    begins = sorted(
        {file.at for file in manifest.files} | {end, *(() if manifest.keys_at is None else [manifest.keys_at])}
    )
    for file in manifest.files:
        until = next((at for at in begins if at > file.at), file.at)
        if file.bytes > (until - file.at) * MOST_COMPRESSED:
            raise StorageError(
                f"{path} is damaged: {file.path} in it is incomplete ({until - file.at} compressed bytes, for a "
                f"file of {file.bytes} bytes). Nothing was unpacked. Copy the archive again, or use another one."
            )


def _manifest_at(end: bytes) -> int | None:
    if len(end) != END.size:
        return None
    head, length, identity, field_length, at, tail = END.unpack(end)
    is_ours = (head, length, identity, field_length, tail) == (END_HEAD, 12, END_ID, 8, END_TAIL)
    return int(at) if is_ours else None


def _opened(file: IO[bytes], mode: Literal["rb", "wb"]) -> Any:
    """Open a gzip stream that compresses or decompresses on a separate thread. Closing the stream leaves `file`
    open.
    """
    return igzip_threaded.open(file, mode, compresslevel=LEVEL, threads=1)  # type: ignore[no-untyped-call]  # the module has no types


class Entry:
    """A file in the archive. Its bytes can be read only once."""

    def __init__(self, name: str, size: int, gzip: Any, archive: Path) -> None:
        self.name = name
        self.size = size
        self._gzip = gzip
        self._archive = archive

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file. Raise StorageError if the archive ends too early or the checksum is
        wrong.
        """
        left = self.size
        while left:
            with _as_sentences(self._archive):
                piece: bytes = self._gzip.read(min(left, PIECE_BYTES))
                if not piece:
                    raise EOFError("the archive ends in the middle of a file")
            left -= len(piece)
            yield piece
        with _as_sentences(self._archive):
            self._gzip.read(-self.size % BLOCK + 1)  # past the end, so that gzip verifies the checksum


@contextmanager
def opened_entry(path: Path, at: int) -> Iterator[Entry]:
    """Open the entry at offset `at`.

    Raise StorageError if the archive is damaged or the entry is not a regular file. An error in the `with` block,
    such as a full disk, is not reported as damage of the archive.
    """
    with ExitStack() as opened:
        with _as_sentences(path):
            file = opened.enter_context(path.open("rb"))
            _seek_member(file, at)
            entry = _next_entry(opened.enter_context(_opened(file, "rb")), path)
            if entry is None:
                raise EOFError("the archive ends where a file should start")
        yield entry


def _seek_member(file: IO[bytes], at: int) -> None:
    """Move to the gzip member that starts at offset `at`. Raise EOFError if no member with content starts at this
    offset.
    """
    file.seek(at)
    if file.read(len(MEMBER_HEAD)) != MEMBER_HEAD:
        raise EOFError("no file starts at the expected position")
    file.seek(at)


def _next_entry(gzip: Any, archive: Path) -> Entry | None:
    """Return the next entry, or None at the end of the archive.

    Raise StorageError, EOFError or tarfile.HeaderError if the archive is damaged.
    """
    head = gzip.read(BLOCK)
    if len(head) < BLOCK:
        raise EOFError("the archive ends before its last file")
    if not any(head):
        return None
    info = tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    if info.size < 0:  # a negative size would read everything
        raise EOFError(f"the size of {info.name!r} is not valid")
    if info.type != tarfile.REGTYPE:
        raise StorageError(
            f"{info.name!r} in the archive is not a regular file, so wmsd did not create this archive. Use "
            "another archive."
        )
    return Entry(info.name, info.size, gzip, archive)


@contextmanager
def _as_sentences(path: Path) -> Iterator[None]:
    """Turn every error that the archive causes into a StorageError with a readable sentence."""
    try:
        yield
    except DAMAGES as error:
        raise StorageError(
            f"{path} is damaged: {error}. Copy the archive again, or use another archive."
        ) from None
    except OSError as error:
        raise NotRead(f"{path} cannot be read: {reason_of(error)}.") from None
