"""Creates a backup: one archive with a consistent copy of every file."""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.byte_sizes import size_text
from wmsd.base.machine.disk import disk_of
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Unanswered
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.snapshots import hold_snapshot
from wmsd.db.engine.sqlite import bytes_on_disk, sqlite3
from wmsd.maintenance.backups.archive import ArchiveWriter, new_archive
from wmsd.maintenance.backups.encryption import Sealed, seal_secrets
from wmsd.maintenance.backups.expected_size import expected_bytes
from wmsd.maintenance.backups.file_figures import read_figures
from wmsd.maintenance.backups.file_snapshots import SnapshotLost, Source, State
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.installations import note_whose
from wmsd.maintenance.backups.manifest import KEYS, BackedUpFile, LeftOut, Manifest
from wmsd.maintenance.backups.mounted_folders import check_mounted, note_mounted
from wmsd.maintenance.backups.platform_copy import KeyRows
from wmsd.maintenance.backups.progress import Progress, Tell, silent
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

LOG = logging.getLogger("wmsd.backup")
TRIES: Final = 5
COPY: Final = ".platform-copy-"
PIECE_BYTES: Final = 1024 * 1024


class Made(NamedTuple):
    path: Path
    bytes: int
    manifest: Manifest


class Creation:
    """The creation of one backup. The archive appears in the folder only when it is complete. A failed creation
    leaves no file there.
    """

    def __init__(
        self,
        data: DataFolder,
        source: Source,
        folder: BackupFolder,
        passphrase: str | None = None,
        tell: Tell = silent,
        by_schedule: bool = False,
    ) -> None:
        """Prepare the backup.

        `passphrase` encrypts the keys. If it is None, the keys are sealed to the recovery phrases of the
        installation. If there are no recovery phrases, the keys are left out. `tell` gets the progress after every
        megabyte.
        """
        self._by_schedule = by_schedule
        self._data = data
        self._source = source
        self._folder = folder
        self._passphrase = passphrase
        self._tell = tell
        self._files = [data.platform_file, *data.companies.glob("*.db")]
        self._all = sum(map(bytes_on_disk, self._files))
        self._done = 0

    def make(self, name: str | None = None) -> Made:
        """Create the archive with the name `name`, or with a name from the current time. Raise StorageError,
        sqlite3.Error or OSError if that fails.
        """
        check_mounted(self._data.path, self._folder)
        with self._folder.locked():
            began, began_at = time.monotonic(), datetime.now(UTC)
            path = self._folder.new(name, began_at)
            self._check_return()
            try:
                with new_archive(path, began_at) as archive:
                    manifest = self._write(archive, began, began_at)
            except OSError as error:
                raise StorageError(
                    f"The backup {path} cannot be written: {reason_of(error)}. No backup was created."
                ) from error
            with _log_failures("the mount point of its disk could not be recorded"):
                note_mounted(self._data.path, self._folder)
            if name is None:
                with _log_failures("its installation could not be recorded in the folder"):
                    note_whose(self._folder.path, manifest.installation, self._data.path)
            return Made(path, path.stat().st_size, manifest)

    def _check_return(self) -> None:
        needed = expected_bytes(self._files, self._folder.archives())
        disk = disk_of(self._folder.path)
        kept = disk.refused_below if self._folder.is_on_disk_of(self._data.path) else 0
        if disk.free < needed + kept:
            reserve = f"{size_text(kept)} are reserved for the data, " if kept else ""
            raise StorageError(
                f"There is not enough space for a backup in {self._folder.path}: the backup needs about "
                f"{size_text(needed)}, {reserve}and {size_text(disk.free)} are free. Free some space, or "
                "choose another folder."
            )

    def _write(self, archive: ArchiveWriter, began: float, began_at: datetime) -> Manifest:
        platform, installation, codes, keys, phrases = self._add_platform(archive)
        added = [
            self._add_company(archive, Owner(installation, company_id, code)) for company_id, code in codes.items()
        ]
        manifest = Manifest(
            wmsd=__version__,
            installation=installation,
            by_schedule=self._by_schedule,
            began_at=timestamps.to_text(began_at),
            seconds=round(time.monotonic() - began, 3),
            **(
                {"keys": "sealed"}
                if keys is None
                else add_secrets(archive, KEYS, seal_secrets(keys, self._passphrase, phrases))
            ),
            files=[platform, *(each for each in added if isinstance(each, BackedUpFile))],
            left_out=[each for each in added if isinstance(each, LeftOut)],
        )
        archive.finish(manifest)
        return manifest

    def _add_platform(
        self, archive: ArchiveWriter
    ) -> tuple[BackedUpFile, str, dict[int, str], KeyRows | None, list[KnownPhrase]]:
        """Add platform.db to the archive.

        Return its entry, and the data from platform.db that the manifest needs: the id of the installation, the
        company codes by company id, the keys, and the recovery phrases in use.
        """
        copy = self._data.path / f"{COPY}{os.getpid()}.db"  # here, because the server writes it
        for remains in self._data.path.glob(f"{COPY}*"):
            remains.unlink()
        try:
            keys = self._source.copy_platform(copy)
            with closing(hold_snapshot(copy)) as state:
                figures = state.read(read_figures)
                installation, codes, phrases = state.read(
                    lambda tx: (companies.installation(tx), companies.codes(tx), recovery_phrases.in_use(tx))
                )
            size = copy.stat().st_size
            at, sha256 = archive.add(PLATFORM_FILE, size, self._with_progress(PLATFORM_FILE, _pieces(copy)))
        finally:
            for suffix in ("", "-wal", "-shm"):
                copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        file = BackedUpFile(path=PLATFORM_FILE, at=at, bytes=size, sha256=sha256, figures=figures)
        return file, installation, codes, keys, phrases

    def _add_company(self, archive: ArchiveWriter, owner: Owner) -> BackedUpFile | LeftOut:
        """Add the file of a company. If the file cannot be read, leave the company out, so that the other
        companies are still saved.
        """
        for _ in range(TRIES):
            done = self._done
            try:
                return add_company(archive, self._source, self._data, owner, self._with_progress)
            except Unanswered:
                raise  # without the server there is nothing to copy
            except (StorageError, sqlite3.Error) as error:
                self._done, reason = done, " ".join(str(error).split())
                if not isinstance(error, SnapshotLost):
                    break
        return LeftOut(company_id=owner.company_id, code=owner.code, reason=reason)

    def _with_progress(self, name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
        self._tell(Progress(name, self._done, self._all))
        for piece in pieces:
            yield piece
            self._done += len(piece)
            self._tell(Progress(name, self._done, self._all))


@contextmanager
def _log_failures(what: str) -> Iterator[None]:
    """Log an OSError in the `with` block as a warning, and do not raise it. The backup is complete in spite of
    such an error.

    `what` is the end of the warning: it says what could not be recorded.
    """
    try:
        yield
    except OSError as error:
        LOG.warning("the backup was created, but %s: %s", what, error)


def add_secrets(archive: ArchiveWriter, name: str, secrets: Sealed | None) -> dict[str, Any]:
    """Add the secrets, if there are any, and return the fields of the manifest that describe the secrets."""
    if secrets is None:
        return {"keys": "left out"}
    at = archive.add(name, len(secrets.content), [secrets.content]).at
    return {"keys": "encrypted", "keys_at": at, "phrases": secrets.phrases}


def add_company(
    archive: ArchiveWriter,
    source: Source,
    data: DataFolder,
    owner: Owner,
    with_progress: Callable[[str, Iterable[bytes]], Iterable[bytes]] = lambda _, pieces: pieces,
) -> BackedUpFile:
    """Add the current content of a company's file to the archive. Return the manifest's entry for this file.

    `with_progress` gets the company's code and an iterator over the pieces of the file. It returns an iterator
    over the same pieces that also reports the progress. Raise SnapshotLost, StorageError, sqlite3.Error or OSError
    if that fails.
    """
    name = f"companies/{owner.company_id}.db"
    with source.state(data.path / name, owner) as state:
        figures = state.figures()
        at, sha256 = archive.add(
            name, state.bytes.bytes, release_after(with_progress(owner.code, state.bytes), state)
        )
        return BackedUpFile(
            path=name,
            company_id=owner.company_id,
            code=owner.code,
            at=at,
            bytes=state.bytes.bytes,
            sha256=sha256,
            figures=figures,
        )


def release_after(pieces: Iterable[bytes], state: State) -> Iterator[bytes]:
    """Yield the pieces of a snapshot, and end the snapshot after the last piece. Raise SnapshotLost if the
    snapshot has ended too early.
    """
    yield from pieces
    state.end()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
