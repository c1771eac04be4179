"""The archive of a backup: a tar file, compressed by gzip, that `tar` can read without wmsd.

Each entry is compressed by itself, as a gzip member (RFC 1952, section 2.2): so one file can be taken out
without reading the others, and one that could not be copied to its end is cut off again. The last entry is the
manifest. Where it begins stands at the very end of the archive: in an empty member, as an extra field of its
header (section 2.3.1.1), which every reader of gzip passes over. The idea is that of eStargz.
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
"""Of ISA-L's levels 0 to 3. The higher ones gain a few percent, and take twice the time."""
BLOCK: Final = 512
END: Final = struct.Struct("< 10s H 2s H Q 10s")
"""An empty gzip member: its header, the length of the extra field, that field's id, its length and content (where
the manifest begins), and the end of the member.
"""
END_HEAD: Final = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 255))
MEMBER_HEAD: Final = bytes((0x1F, 0x8B, 8, 0))
"""Of every other member: deflate, and no flags."""
END_ID: Final = b"WM"
END_TAIL: Final = bytes((3, 0)) + bytes(8)
MOST_COMPRESSED: Final = 1032
"""How many bytes one byte of deflate can stand for (zlib's technical details)."""
MOST_MANIFEST_BYTES: Final = 256 * 1024 * 1024
PIECE_BYTES: Final = 1024 * 1024
MODE: Final = 0o600
ISAL_ERROR: Final[Any] = isal_zlib.error  # its types say that it is no class
DAMAGES: Final = (tarfile.HeaderError, igzip.BadGzipFile, ISAL_ERROR, EOFError)


class NotRead(StorageError):
    """The disk did not give the archive's bytes, so that nothing is known of them."""


class Added(NamedTuple):
    """Where an entry begins in the archive, and the sum of its content."""

    at: int
    sha256: str


class ArchiveWriter:
    """Writes entries one after the other, then the manifest, into a file that is open for writing."""

    def __init__(self, file: IO[bytes], modified: datetime) -> None:
        self._file = file
        self._modified = int(modified.timestamp())

    def add(self, name: str, size: int, pieces: Iterable[bytes]) -> Added:
        """Adds an entry, or nothing when that fails. Raises OSError, StorageError when there are not so many
        bytes, and what `pieces` raises.
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
                raise StorageError(f"{name} has {size - left} bytes, and not {size}.")
        except BaseException:
            self._file.seek(at)
            self._file.truncate()
            raise
        return Added(at, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Writes the manifest and the end. Raises OSError."""
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
    """An archive that is at `path` once it is whole and on the disk. What fails before leaves nothing. Raises
    OSError.
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
    """The manifests of those archives that can be read."""
    for path in archives:
        with suppress(StorageError):
            yield path, read_manifest(path)


def scheduled_archives(archives: Iterable[Path], installation: str) -> dict[Path, Manifest]:
    """The manifests of those that a schedule of this installation made. One that cannot be read is nobody's."""
    return {
        path: manifest
        for path, manifest in readable_manifests(archives)
        if manifest.installation == installation and manifest.by_schedule
    }


def read_manifest(path: Path) -> Manifest:
    """Raises StorageError when it is no archive of ours, or cut short."""
    with _as_sentences(path), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END.size))
        at = _manifest_at(file.read())
        if at is None or at >= size - END.size:
            raise StorageError(
                f"{path} is not a backup of wmsd, or it is cut short: the end that wmsd writes is missing."
            )
        _seek_member(file, at)
        with _opened(file, "rb") as gzip:
            entry = _next_entry(gzip, path)
            if entry is None or entry.name != manifests.NAME or entry.size > MOST_MANIFEST_BYTES:
                raise StorageError(f"{path} is damaged: its manifest is not where it should be.")
            manifest = manifests.parsed(b"".join(entry.pieces()), str(path))
        _check_sizes(path, manifest, at)
        return manifest


def _check_sizes(path: Path, manifest: Manifest, end: int) -> None:
    """Raises StorageError when the archive cannot hold the files that its manifest names, so that none is unpacked
    to find that out.
    """
    begins = sorted(
        {file.at for file in manifest.files} | {end, *(() if manifest.keys_at is None else [manifest.keys_at])}
    )
    for file in manifest.files:
        until = next((at for at in begins if at > file.at), file.at)
        if file.bytes > (until - file.at) * MOST_COMPRESSED:
            raise StorageError(
                f"{path} is damaged: its manifest gives {file.path} {file.bytes} bytes, and the "
                f"{until - file.at} bytes of it that are there cannot unpack to so many. Nothing was unpacked."
            )


def _manifest_at(end: bytes) -> int | None:
    if len(end) != END.size:
        return None
    head, length, identity, field_length, at, tail = END.unpack(end)
    is_ours = (head, length, identity, field_length, tail) == (END_HEAD, 12, END_ID, 8, END_TAIL)
    return int(at) if is_ours else None


def _opened(file: IO[bytes], mode: Literal["rb", "wb"]) -> Any:
    """Compresses or decompresses on a thread. It leaves the file open."""
    return igzip_threaded.open(file, mode, compresslevel=LEVEL, threads=1)  # type: ignore[no-untyped-call]  # it has no types


class Entry:
    """A file in the archive. Its bytes can be read once."""

    def __init__(self, name: str, size: int, gzip: Any, archive: Path) -> None:
        self.name = name
        self.size = size
        self._gzip = gzip
        self._archive = archive

    def pieces(self) -> Iterator[bytes]:
        """Raises StorageError when the archive ends before, or the sum is wrong."""
        left = self.size
        while left:
            with _as_sentences(self._archive):
                piece: bytes = self._gzip.read(min(left, PIECE_BYTES))
                if not piece:
                    raise EOFError("it ends within a file")
            left -= len(piece)
            yield piece
        with _as_sentences(self._archive):
            self._gzip.read(-self.size % BLOCK + 1)  # past the end of the member, so that its sum is checked


@contextmanager
def opened_entry(path: Path, at: int) -> Iterator[Entry]:
    """The entry that begins there. Raises StorageError when the archive is damaged, and for anything but a
    file. What whoever reads it raises, such as a full disk that it is written to, is no fault of the archive.
    """
    with ExitStack() as opened:
        with _as_sentences(path):
            file = opened.enter_context(path.open("rb"))
            _seek_member(file, at)
            entry = _next_entry(opened.enter_context(_opened(file, "rb")), path)
            if entry is None:
                raise EOFError("it ends before a file")
        yield entry


def _seek_member(file: IO[bytes], at: int) -> None:
    """Raises EOFError when no member begins there with the header that this module writes."""
    file.seek(at)
    if file.read(len(MEMBER_HEAD)) != MEMBER_HEAD:
        raise EOFError("no file begins where one should")
    file.seek(at)


def _next_entry(gzip: Any, archive: Path) -> Entry | None:
    """None at the end. Raises StorageError, EOFError and tarfile.HeaderError."""
    head = gzip.read(BLOCK)
    if len(head) < BLOCK:
        raise EOFError("it ends before its last file")
    if not any(head):
        return None
    info = tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    if info.size < 0:  # to read so many would read everything
        raise EOFError(f"it gives {info.name!r} no size")
    if info.type != tarfile.REGTYPE:
        raise StorageError(f"The archive holds {info.name!r}, which is no file. It was left out.")
    return Entry(info.name, info.size, gzip, archive)


@contextmanager
def _as_sentences(path: Path) -> Iterator[None]:
    """Whatever is wrong with the archive, in a sentence."""
    try:
        yield
    except DAMAGES as error:
        raise StorageError(f"{path} is damaged: {error}.") from None
    except OSError as error:
        raise NotRead(f"{path} cannot be read: {reason_of(error)}.") from None
