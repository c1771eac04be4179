"""Archives whose real size differs from the size that they claim are refused before anything is unpacked."""

import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from isal import igzip

from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.archive import ArchiveWriter, opened_entry, read_manifest
from wmsd.maintenance.backups.file_figures import Figures
from wmsd.maintenance.backups.manifest import BackedUpFile, Manifest
from wmsd.maintenance.backups.unpack import unpack_file

MOMENT = datetime(2026, 11, 27, tzinfo=UTC)
MEGABYTE = 1_000_000


def archive_of(path: Path, content: bytes, claimed: int | None = None) -> Path:
    """Write an archive with one file. If `claimed` is not None, the manifest gives this number of bytes for the
    file.
    """
    with path.open("xb") as file:
        archive = ArchiveWriter(file, MOMENT)
        added = archive.add("platform.db", len(content), [content])
        backed_up = BackedUpFile(
            path="platform.db",
            at=added.at,
            bytes=len(content) if claimed is None else claimed,
            sha256=added.sha256,
            figures=Figures(schema_version=1, rows={}, sums={}),
        )
        given: Any = {"wmsd": "1", "installation": "x", "began_at": "2026-11-27T00:00:00Z", "seconds": 1.0}
        archive.finish(Manifest(**given, keys="left out", files=[backed_up]))
    return path


def test_zeros_are_no_file_of_sqlite_and_are_not_unpacked(tmp_path: Path) -> None:
    """100 MB of zeros take 100 kB in an archive."""
    path = archive_of(tmp_path / "zeros.tar.gz", bytes(100 * MEGABYTE))
    assert path.stat().st_size < MEGABYTE
    [file] = read_manifest(path).files
    with pytest.raises(
        StorageError, match=r"is damaged: platform\.db in it is not a SQLite file\. Copy the archive again"
    ):
        unpack_file(path, file, tmp_path / "unpacked")
    assert not (tmp_path / "unpacked").exists()


def test_a_size_that_nothing_can_unpack_to_is_refused_at_once(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "huge.tar.gz", b"SQLite format 3\0" + bytes(1000), 10**15)
    with pytest.raises(
        StorageError,
        match=r"is damaged: platform\.db in it is incomplete \(.* for a file of 1000000000000000 bytes\)",
    ):
        read_manifest(path)


def test_an_entry_that_goes_on_beyond_its_size_is_not_read_on(tmp_path: Path) -> None:
    """The manifest says 1000 bytes, and the entry has 50 MB."""
    path = archive_of(tmp_path / "longer.tar.gz", b"SQLite format 3\0" + bytes(50 * MEGABYTE), 1000)
    [file] = read_manifest(path).files
    with pytest.raises(StorageError, match=r"is damaged: it has 'platform\.db' of 50000016 bytes where"):
        unpack_file(path, file, tmp_path / "unpacked")
    assert not (tmp_path / "unpacked").exists()


def test_a_negative_size_is_damage_and_not_everything(tmp_path: Path) -> None:
    """A read of -1 bytes reads everything, however much that unpacks to."""
    path = tmp_path / "negative.tar.gz"
    info = tarfile.TarInfo("platform.db")
    info.size = -1000
    path.write_bytes(igzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(10 * MEGABYTE), 1))
    with (
        pytest.raises(StorageError, match=r"is damaged: the size of 'platform\.db' is not valid"),
        opened_entry(path, 0),
    ):
        pass
