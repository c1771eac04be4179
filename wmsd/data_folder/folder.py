"""The data folder: created only on request, checked before use, and used by one server at a time."""

import errno
import fcntl
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from wmsd import __version__
from wmsd.base.machine.descriptors import try_lock
from wmsd.base.machine.disk import disk_of
from wmsd.base.machine.private_files import create_folders, give_to_owner_of, new_private, write_private
from wmsd.base.machine.regular_files import reason_of
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.data_folder import file_swap
from wmsd.data_folder.file_swap import sync
from wmsd.data_folder.messages import check_folder, refuse_others
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.platform_loss import Backups, is_lost, next_steps
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import QUICK_CHECK, connect, sqlite3
from wmsd.db.migrations import PLATFORM, Before, create_file, migrate, only_by_a_server
from wmsd.settings.sections.server import Server

LOG = logging.getLogger("wmsd.data")
AGAIN_SECONDS = 0.1
LOCK = "server.lock"
BORROWERS = "borrowers.lock"
SAID_BYTES = 1000
RESERVE_BYTES = 16 * 1024 * 1024
"""The size of the file that is deleted when the disk is full."""
ROOM_TO_OPEN = 1024 * 1024
"""How many free bytes are needed to open database files. Even reading a file with a write-ahead log needs space
for the log's index.
"""
NO_RESERVE = "the emergency space reserve cannot be created"


class Serving(NamedTuple):
    """The server that uses a data folder, and the address at which it listens."""

    pid: int
    listen: str
    version: str
    """The version of the program, or "" if the server does not report it."""
    is_ready: bool = True
    """True if the server already listens."""
    lends: bool = True
    """True if commands must ask the server to lend its files. Otherwise every process can open the files."""
    address: str = ""
    """The address for users, such as https://192.168.1.20:8480. Empty until the server listens."""

    def has_tls(self, settings: Server) -> bool:
        """Return True if the server uses TLS, according to the address that it reports.

        Without an address, use `settings`. Options of the running server may override these settings.
        """
        return self.address.startswith("https:") if self.address else settings.has_tls


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.platform_file = path / PLATFORM_FILE
        self.companies = path / "companies"
        self.requests = path / "requests"
        self.reserve = path / "reserve"
        self.address = ""
        """The address of this process for users, if it is a server. Empty until it listens."""
        self._lock: IO[str] | None = None
        self._is_serving = False
        self._is_told_of_commands = False
        self._told = RepeatedFailures(LOG, level=logging.WARNING)

    @property
    def is_made(self) -> bool:
        """True if the folder contains an installation. Raise StorageError if this user may not read the folder."""
        self.check_seen()
        return self.platform_file.exists() or file_swap.is_begun(self.path)

    def check_seen(self) -> None:
        """Raise StorageError if the folder belongs to another user, and this user may not read it."""
        try:
            self.platform_file.exists()
        except OSError as error:
            refuse_others(self.path, error)
            raise

    def make(self) -> None:
        """Create an installation. Raise StorageError if the folder has one already, or cannot be used."""
        self.make_place()
        self.check_platform()
        self.check_writable()
        create_file(self.platform_file, PLATFORM)

    def check_platform(self, backups: Backups | None = None) -> None:
        """Raise StorageError if there are companies' files but no platform.db.

        The error says how to restore the newest of `backups`.
        """
        orphans = [] if self.is_made else sorted(self.companies.glob("*.db"))
        if orphans:
            raise StorageError(
                f"{self.path} has files of companies ({orphans[0].name} …), but no platform.db. Nothing was "
                "changed. If you have a copy of platform.db, put it back with its platform.db-wal, or name "
                f"another folder with --data. {next_steps(self.path, backups)}"
            )

    def make_place(self) -> None:
        """Create the folder if it does not exist yet. Raise StorageError if that fails."""
        check_folder(self.path)
        path = self.path.resolve()
        made = [folder for folder in path.parents if not folder.exists()]
        try:
            create_folders(self.path, 0o700)  # it contains the keys that sign tokens
            create_folders(self.companies)
            for folder in (path, *(each.parent for each in (path, *made))):
                sync(folder)
        except OSError as error:
            raise StorageError(f"The data folder {self.path} cannot be created: {reason_of(error)}.") from None

    def open(self, before_migration: Before = only_by_a_server, backups: Backups | None = None) -> None:
        """Check `platform.db` and migrate it to this program's version. Raise StorageError if that fails.

        `before_migration` is called before a migration. If platform.db is lost or damaged, the error says how to
        restore the newest of `backups`.
        """
        self.release_reserve(ROOM_TO_OPEN)
        try:
            migrate(self.platform_file, PLATFORM, before=before_migration)
        except StorageError as error:
            if is_lost(self.platform_file, error):
                raise StorageError(f"{error} {next_steps(self.path, backups)}") from error
            raise
        with closing(connect(self.platform_file)) as connection:
            try:
                verdict = connection.execute(QUICK_CHECK).fetchone()[0]
            except sqlite3.DatabaseError as error:
                verdict = str(error)
        if verdict != "ok":
            raise StorageError(
                f"{self.platform_file} is damaged: {verdict}. Nothing was changed. "
                f"{next_steps(self.path, backups)}"
            )

    def check_writable(self) -> None:
        """Raise StorageError if the folder cannot be written.

        A new installation needs a disk with enough free space. An existing installation also works on a full disk,
        so that users can read and delete data.
        """
        if self.is_made:
            self.release_reserve(ROOM_TO_OPEN)
        else:
            self.check_space()
        probe = self.path / ".wmsd-probe"
        try:
            probe.unlink(missing_ok=True)
            write_private(probe, b"\0" * 65_536)
        except OSError as error:
            refuse_others(self.path, error)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):  # without a server there is no guide to refer to
                raise StorageError(
                    f"The data folder {self.path} cannot be written: the disk is full. Free some space on "
                    "the disk, then try again. You may delete old log files (wmsd.log.1 and so on), folders "
                    "that a restore or an upgrade left in the data folder over a week ago (replaced-…, "
                    "before-…), and the oldest backups, if a newer backup is verified. Never delete files "
                    "that end with .db or -wal."
                ) from None
            raise StorageError(f"The data folder {self.path} cannot be written: {reason_of(error)}.") from None
        finally:
            with suppress(OSError):
                probe.unlink()

    def check_space(self, there: Path | None = None, is_move: bool = False) -> None:
        """Raise StorageError if the disk of the data folder is nearly full.

        If the data folder does not exist yet, pass as `there` an existing folder on the same disk. Pass
        `is_move=True` if the caller only changes the status of a record. For such a change, `RESERVE_BYTES` of
        free space are enough.
        """
        disk = disk_of(there or self.path)
        needed = RESERVE_BYTES if is_move else disk.refused_below
        if disk.free < needed:
            raise StorageError(
                f"The disk of the data folder {self.path} is full: {disk.free // 1024} KiB are free, "
                f"{needed // 1024} KiB are needed. Free some space, then try again."
            )

    def make_reserve(self) -> None:
        """Create the reserve, a file that is deleted when the disk is full, if there is enough space."""
        disk = disk_of(self.path)
        if self.reserve.exists() or disk.free < 2 * RESERVE_BYTES + disk.refused_below:
            return
        try:
            with new_private(self.reserve) as file:
                os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
        except OSError as error:
            self.reserve.unlink(missing_ok=True)
            self._told.failed(NO_RESERVE, error)
        else:
            self._told.over(NO_RESERVE)

    def release_reserve(self, most_free: int = RESERVE_BYTES) -> bool:
        """Delete the reserve if at most `most_free` bytes of the disk are free. Return True if it was deleted.

        After that, wmsd still refuses to add records, so that they do not use up the freed space.
        """
        try:
            if disk_of(self.path).free > most_free:
                return False
            self.reserve.unlink()
        except OSError:
            return False
        LOG.error(
            "the disk of %s is full: wmsd released its reserve of %d MiB, so that tokens can be revoked and "
            "records deleted. Free some space.",
            self.path,
            RESERVE_BYTES // 1024**2,
        )
        return True

    def lock(self, listen: str) -> None:
        """Lock the folder for a server, until the process ends. First wait for commands that are using the folder.

        Raise StorageError if another server uses the folder. The error says on which address that server listens.
        `listen` is the address of this server.
        """
        file = self._lock or self._lock_file()
        while not try_lock(file, fcntl.LOCK_EX):
            if not try_lock(file, fcntl.LOCK_SH):
                file.seek(0)
                holder = _holder(file.read())
                file.close()
                which = "" if holder is None else f": process {holder.pid}, listening on {holder.listen}"
                raise StorageError(
                    f"Another wmsd already uses the data folder {self.path}{which}. Stop that wmsd first, or "
                    "choose another folder with --data."
                )
            fcntl.flock(file, fcntl.LOCK_UN)
            self._wait_for_commands()
        self._lock, self._is_serving = file, True
        file.truncate(0)  # deletes what the previous server wrote
        self._finish_swap()
        with self._lock_file(BORROWERS) as borrowers:  # locked by commands with files of the previous server
            while not try_lock(borrowers, fcntl.LOCK_EX):
                self._wait_for_commands()
        self.say_listening(listen, is_ready=False)

    def _finish_swap(self) -> None:
        """Finish a restore that was interrupted. Raise StorageError if that fails."""
        try:
            file_swap.finish_swap(self.path)
        except OSError as error:
            raise file_swap.SwapUnfinished(self.path, error) from None

    def _wait_for_commands(self) -> None:
        if not self._is_told_of_commands:
            LOG.warning("a command is using %s: the server waits until the command has finished", self.path)
            self._is_told_of_commands = True
        time.sleep(AGAIN_SECONDS)

    @contextmanager
    def borrowing(self) -> Iterator[None]:
        """Hold a lock while a command uses files that the server lends to it.

        If the server stops meanwhile, the next server waits until no command holds this lock.
        """
        with self._lock_file(BORROWERS) as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    def share(self) -> bool:
        """Lock the folder so that no server can start while a command uses it.

        Return False if a server is running.
        """
        file = self._lock_file()
        if not try_lock(file, fcntl.LOCK_SH):
            file.close()
            return False
        self._lock = file
        self._finish_swap()
        return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other commands out of the folder while this context is open. Call `share` first.

        Raise StorageError if another command uses the folder.
        """
        assert self._lock is not None
        if not try_lock(self._lock, fcntl.LOCK_EX):
            raise StorageError(
                f"Another command is using {self.path}. Nothing was changed. Wait until the command has "
                "finished, and try again."
            )
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def server(self) -> Serving | None:
        """Return the server that uses the folder now, or None if no server uses it."""
        with self._lock_file() as file:
            if try_lock(file, fcntl.LOCK_SH):
                return None
            file.seek(0)
            return _holder(file.read())

    def _lock_file(self, name: str = LOCK) -> IO[str]:
        """Open a file for locking.

        No other user may open it, because any process that has it open can lock it too.
        """
        path = self.path / name
        try:
            opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            give_to_owner_of(self.path, path)
            return os.fdopen(opened, "r+", encoding="utf-8")
        except OSError as error:
            refuse_others(self.path, error)
            if not self.path.exists():
                raise StorageError(f"There is no data folder {self.path}.") from None
            raise StorageError(
                f"{path} cannot be opened: {reason_of(error)}. Make the user that runs wmsd its owner."
            ) from None

    def say_listening(self, listen: str, lends: bool = True, is_ready: bool = True, address: str = "") -> None:
        """Write the id of this process and the parameters into the lock file, for other processes.

        `listen` is the address at which this process listens. If a second server is started, its error contains
        `listen`. `lends` is True if this process lends its files. `address` is the address for users: commands use
        it in the links that they print.
        """
        assert self._lock is not None
        self.address = address
        said = Serving(os.getpid(), listen, __version__, is_ready, lends, address)._asdict()
        os.pwrite(self._lock.fileno(), json.dumps(said).ljust(SAID_BYTES).encode(), 0)  # one write

    def forget_deleted(self) -> None:
        """Remove all traces of deleted and changed data from `platform.db`. No other process may have it open."""
        with closing(connect(self.platform_file)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def unlock(self) -> None:
        if self._lock is not None:
            if self._is_serving:
                self._lock.truncate(0)
            self._lock.close()
            self._lock, self._is_serving = None, False


@contextmanager
def new_place(folder: DataFolder) -> Iterator[None]:
    """Create the folder of a new installation, for example for a restore, and lock it while this context is open.

    If an error occurs before the folder contains data, remove everything that was created for it. Raise
    StorageError if the folder cannot be created or locked.
    """
    path = folder.path.resolve()
    files = [each for each in (path / LOCK, path / BORROWERS) if not each.exists()]
    folders = [each for each in (path / "companies", path, *path.parents) if not each.exists()]
    try:
        folder.make_place()
        folder.lock("no address")
        yield
    except BaseException:
        if not folder.is_made:
            for file in files:
                file.unlink(missing_ok=True)
            for each in folders:
                with suppress(OSError):  # the folder contains something that wmsd did not create
                    each.rmdir()
        raise
    finally:
        folder.unlock()


def _holder(text: str) -> "Serving | None":
    try:
        found = json.loads(text)
        return Serving(
            int(found["pid"]),
            str(found["listen"]),
            str(found.get("version", "")),
            bool(found.get("is_ready", True)),
            bool(found.get("lends", True)),
            str(found.get("address", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
