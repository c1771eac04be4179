"""Where a backup's bytes come from: states of files that the running server holds, or else this process."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan, Unanswered
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner, check_owner
from wmsd.db.engine.held_states import Extent, hold_state
from wmsd.db.engine.state_bytes import StateBytes
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.write_ahead_log import check_log
from wmsd.maintenance.backups.file_figures import Figures, read_figures
from wmsd.maintenance.backups.platform_copy import KeyRows, copy_platform

LONG_SECONDS: Final = 3600.0
"""The time to wait until the server has counted what is in a file, or copied platform.db."""


class State(NamedTuple):
    """A state of a file. `figures` and `release` are functions of whoever holds it."""

    bytes: StateBytes
    figures: Callable[[], Figures]
    release: Callable[[], bool]
    """Whether the state was held until now."""

    def end(self) -> None:
        """Call it after the last byte was read. Raises StateLost when the state was not held until now."""
        if not self.release():
            raise StateLost(self.bytes.path)


class StateLost(StorageError):
    """Others needed the file, or wrote much, before all of it was copied. It may be tried again."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was needed by others, or written too much, while it was copied.")


class Source(Protocol):
    """Its methods raise StorageError, sqlite3.Error and OSError."""

    def copy_platform(self, path: Path) -> KeyRows | None:
        """Writes a copy of platform.db without its keys to `path`. Returns the keys; None when they are sealed."""

    def state(self, path: Path, owner: Owner) -> AbstractContextManager[State]:
        """The state of a company's file."""


class FromServer:
    """The server holds the states."""

    def __init__(self, loan: Loan) -> None:
        self._loan = loan

    def copy_platform(self, path: Path) -> KeyRows | None:
        self._loan.ask("release")  # a server that hangs is told of after a minute, and not after the copy's hour
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
                    raise StateLost(path) from None
        finally:
            self._loan.ask("release")

    def _release(self) -> bool:
        """Whether the state was held until now."""
        return bool(self._loan.ask("release"))

    def _figures(self) -> Figures:
        return Figures.model_validate(self._loan.ask("figures", None, LONG_SECONDS))


class FromFolder:
    """This process holds the states, where no server has the files for itself. It migrates nothing."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder

    def copy_platform(self, path: Path) -> KeyRows | None:
        check_log(self._folder.platform_file)
        with closing(hold_state(self._folder.platform_file)) as state:
            return copy_platform(state, path)

    @contextmanager
    def state(self, path: Path, owner: Owner) -> Iterator[State]:
        check_log(path)
        with closing(StateBytes(path)) as found, closing(hold_state(path)) as held:
            held.read(lambda tx: _check_owner(tx, path, owner))
            found.begin(held.extent)
            yield State(found, lambda: held.read(read_figures), lambda: held.is_held)


def source_of(folder: DataFolder, loan: Loan | None) -> Source:
    """`loan`: of the server that runs, if there is one."""
    return FromFolder(folder) if loan is None else FromServer(loan)


def _check_owner(tx: Transaction, path: Path, owner: Owner) -> None:
    if tx.value("SELECT count(*) FROM sqlite_schema WHERE name = 'owner'"):
        check_owner(tx, path, owner)
