"""The source of the files in a backup: snapshots that the running server or this process holds."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan, Unanswered
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner, check_owner
from wmsd.db.engine.snapshots import Extent, hold_snapshot
from wmsd.db.engine.state_bytes import StateBytes
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.write_ahead_log import check_log
from wmsd.maintenance.backups.file_figures import Figures, read_figures
from wmsd.maintenance.backups.platform_copy import KeyRows, copy_platform

LONG_SECONDS: Final = 3600.0
"""How many seconds to wait for the server while it counts the content of a file, or copies platform.db."""


class State(NamedTuple):
    """A snapshot of a file. The running server or this process holds it. `figures` and `release` do their work in
    the process that holds the snapshot.
    """

    bytes: StateBytes
    figures: Callable[[], Figures]
    release: Callable[[], bool]
    """Ends the snapshot. Returns False if the snapshot was already lost before this call, otherwise True."""

    def end(self) -> None:
        """End the snapshot after its last byte was read. Raise SnapshotLost if the snapshot was already lost."""
        if not self.release():
            raise SnapshotLost(self.bytes.path)


class SnapshotLost(StorageError):
    """The snapshot ended before it was copied completely, because another process needed the file or wrote too
    much to it. The copy may be tried again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} could not be copied: another process needed the file, or too much was "
            "written to it meanwhile."
        )


class Source(Protocol):
    """A source of snapshots. Its methods raise StorageError, sqlite3.Error or OSError if they fail."""

    def copy_platform(self, path: Path) -> KeyRows | None:
        """Write a copy of platform.db without its keys to `path`. Return the keys, or None if the keys are
        sealed.
        """

    def state(self, path: Path, owner: Owner) -> AbstractContextManager[State]:
        """Open a snapshot of a company's file."""


class FromServer:
    """A source whose snapshots the running server holds."""

    def __init__(self, loan: Loan) -> None:
        self._loan = loan

    def copy_platform(self, path: Path) -> KeyRows | None:
        self._loan.ask("release")  # detects a hanging server after a minute, not after the hour of the copy
        keys: KeyRows | None = self._loan.ask("copy_platform", str(path.resolve()), LONG_SECONDS)
        return keys

    @contextmanager
    def state(self, path: Path, owner: Owner) -> Iterator[State]:
        (device, inode), *sizes = self._loan.ask("hold", owner.company_id)
        try:
            with closing(StateBytes(path)) as found:
                try:
                    found.begin(Extent((device, inode), *sizes))
                    yield State(found, self._figures, self._release)
                except Unanswered:
                    raise
                except StorageError:
                    if self._release():
                        raise
                    raise SnapshotLost(path) from None
        finally:
            self._loan.ask("release")

    def _release(self) -> bool:
        """Release the snapshot. Return False if the snapshot was already lost before this call, otherwise True."""
        return bool(self._loan.ask("release"))

    def _figures(self) -> Figures:
        return Figures.model_validate(self._loan.ask("figures", None, LONG_SECONDS))


class FromFolder:
    """A source whose snapshots this process holds, for a data folder that no server uses. Files of an older schema
    are copied as they are.
    """

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder

    def copy_platform(self, path: Path) -> KeyRows | None:
        check_log(self._folder.platform_file)
        with closing(hold_snapshot(self._folder.platform_file)) as state:
            return copy_platform(state, path)

    @contextmanager
    def state(self, path: Path, owner: Owner) -> Iterator[State]:
        check_log(path)
        with closing(StateBytes(path)) as found, closing(hold_snapshot(path)) as held:
            held.read(lambda tx: _check_owner(tx, path, owner))
            found.begin(held.extent)
            yield State(found, lambda: held.read(read_figures), lambda: held.is_held)


def source_of(folder: DataFolder, loan: Loan | None) -> Source:
    """Return the source of snapshots. `loan` is the connection to the running server, or None if no server is
    running.
    """
    return FromFolder(folder) if loan is None else FromServer(loan)


def _check_owner(tx: Transaction, path: Path, owner: Owner) -> None:
    if tx.value("SELECT count(*) FROM sqlite_schema WHERE name = 'owner'"):
        check_owner(tx, path, owner)
