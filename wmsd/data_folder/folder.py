"""The data folder: made only on request, checked before use, served by one server at a time."""

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
from wmsd.data_folder.platform_loss import Backups, is_lost, way_on
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
"""More than the indexes of a few logs take, without which files cannot even be read."""
NO_RESERVE = "there is no reserve for a full disk"


class Serving(NamedTuple):
    """The server that has a data folder, and where it listens."""

    pid: int
    listen: str
    version: str
    """Of the program; empty when it does not say so."""
    is_ready: bool = True
    """Whether it listens already."""
    lends: bool = True
    """Whether it lends its files. Otherwise it shares them with every process."""
    address: str = ""
    """As people open it, such as https://192.168.1.20:8480; empty until it listens."""

    def has_tls(self, settings: Server) -> bool:
        """Its own settings may be others, by flags: they decide where it does not say it itself."""
        return self.address.startswith("https:") if self.address else settings.has_tls


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.platform_file = path / PLATFORM_FILE
        self.companies = path / "companies"
        self.requests = path / "requests"
        self.reserve = path / "reserve"
        self.address = ""
        """Of the server that this process is, as people open it; empty until it listens."""
        self._lock: IO[str] | None = None
        self._is_serving = False
        self._is_told_of_commands = False
        self._told = RepeatedFailures(LOG, level=logging.WARNING)

    @property
    def is_made(self) -> bool:
        """Raises StorageError as `check_seen` does."""
        self.check_seen()
        return self.platform_file.exists() or file_swap.is_begun(self.path)

    def check_seen(self) -> None:
        """Raises StorageError where it is another user's, and hidden from this one."""
        try:
            self.platform_file.exists()
        except OSError as error:
            refuse_others(self.path, error)
            raise

    def make(self) -> None:
        """Makes a new, empty installation. Raises StorageError when the folder holds something else."""
        self.make_place()
        self.check_platform()
        self.check_writable()
        create_file(self.platform_file, PLATFORM)

    def check_platform(self, backups: Backups | None = None) -> None:
        """Raises StorageError where companies are left without it. The newest of `backups` is named."""
        orphans = [] if self.is_made else sorted(self.companies.glob("*.db"))
        if orphans:
            raise StorageError(
                f"{self.path} holds companies ({orphans[0].name} …) but no platform.db. Nothing was changed. Put "
                "back platform.db if you have a copy of it with its log, or choose another folder with --data. "
                f"{way_on(self.path, backups)}"
            )

    def make_place(self) -> None:
        """Makes the folder, where it is not there yet. Raises StorageError."""
        check_folder(self.path)
        path = self.path.resolve()
        made = [folder for folder in path.parents if not folder.exists()]
        try:
            create_folders(self.path, 0o700)  # it holds the keys that sign tokens
            create_folders(self.companies)
            for folder in (path, *(each.parent for each in (path, *made))):
                sync(folder)
        except OSError as error:
            raise StorageError(f"The data folder {self.path} cannot be made: {reason_of(error)}.") from None

    def open(self, before_migration: Before = only_by_a_server, backups: Backups | None = None) -> None:
        """Checks `platform.db` and migrates it to this program's version. Raises StorageError. `backups`: as for
        `check_platform`.
        """
        self.release_reserve(ROOM_TO_OPEN)
        try:
            migrate(self.platform_file, PLATFORM, before=before_migration)
        except StorageError as error:
            if is_lost(self.platform_file, error):
                raise StorageError(f"{error} {way_on(self.path, backups)}") from error
            raise
        with closing(connect(self.platform_file)) as connection:
            try:
                verdict = connection.execute(QUICK_CHECK).fetchone()[0]
            except sqlite3.DatabaseError as error:
                verdict = str(error)
        if verdict != "ok":
            raise StorageError(
                f"{self.platform_file} is damaged: {verdict}. Nothing was changed. {way_on(self.path, backups)}"
            )

    def check_writable(self) -> None:
        """Raises StorageError when nothing can be written. On a full disk a new installation is not made; one that
        is there is served all the same, and what it has can be read and deleted.
        """
        if self.is_made:
            self.release_reserve(ROOM_TO_OPEN)
        else:
            self.check_room()
        probe = self.path / ".wmsd-probe"
        try:
            probe.unlink(missing_ok=True)
            write_private(probe, b"\0" * 65_536)
        except OSError as error:
            refuse_others(self.path, error)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):  # the guide is at no address while no server runs
                raise StorageError(
                    f"The data folder {self.path} cannot be written: there is no room left. Make some on its "
                    "disk, then try again. You may delete old log files (wmsd.log.1 and so on), what a restore or "
                    "an upgrade left in the data folder a week ago (replaced-…, before-…), and the oldest "
                    "backups, where a newer one is proven. Never delete files that end with .db or -wal."
                ) from None
            raise StorageError(f"The data folder {self.path} cannot be written: {reason_of(error)}.") from None
        finally:
            with suppress(OSError):
                probe.unlink()

    def check_room(self, there: Path | None = None, is_move: bool = False) -> None:
        """Raises StorageError when the disk is nearly full. `there` is a folder on it: the data folder may not be
        made yet. The rest is kept for work that must go on, such as a move: it switches what is there, or sends it
        again, and may come as near to the end as a request that does.
        """
        disk = disk_of(there or self.path)
        needed = RESERVE_BYTES if is_move else disk.refused_below
        if disk.free < needed:
            raise StorageError(
                f"The disk of the data folder {self.path} is full: {disk.free // 1024} KiB are free, "
                f"{needed // 1024} KiB are needed. Make room, then try again."
            )

    def make_reserve(self) -> None:
        """Makes the reserve when the disk has room for it and for more."""
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
        """Deletes the reserve if the disk is full: if no more than that is free. Returns whether it did.

        Additions are still refused then, so they cannot use it up.
        """
        try:
            if disk_of(self.path).free > most_free:
                return False
            self.reserve.unlink()
        except OSError:
            return False
        LOG.error(
            "the disk of %s is full: its reserve of %d MiB is released, so that tokens can be revoked and records "
            "deleted. Make room.",
            self.path,
            RESERVE_BYTES // 1024**2,
        )
        return True

    def lock(self, listen: str) -> None:
        """Locks the folder until the process ends, however it ends. Waits for commands that are at work in the
        folder.

        Raises StorageError, with the address of the other server, when one serves the folder already.
        """
        file = self._lock or self._lock_file()
        while not try_lock(file, fcntl.LOCK_EX):
            if not try_lock(file, fcntl.LOCK_SH):
                file.seek(0)
                holder = _holder(file.read())
                file.close()
                which = "" if holder is None else f": process {holder.pid}, listening on {holder.listen}"
                raise StorageError(
                    f"Another wmsd serves the data folder {self.path} already{which}. "
                    "Stop it first, or give this one another folder with --data."
                )
            fcntl.flock(file, fcntl.LOCK_UN)
            self._wait_for_commands()
        self._lock, self._is_serving = file, True
        file.truncate(0)  # what the server before this one has said
        self._finish_swap()
        with self._lock_file(BORROWERS) as borrowers:  # they have borrowed files of the previous server
            while not try_lock(borrowers, fcntl.LOCK_EX):
                self._wait_for_commands()
        self.say_listening(listen, is_ready=False)

    def _finish_swap(self) -> None:
        """Finishes a restore that was cut off. Raises StorageError."""
        try:
            file_swap.finish_swap(self.path)
        except OSError as error:
            raise file_swap.SwapUnfinished(self.path, error) from None

    def _wait_for_commands(self) -> None:
        if not self._is_told_of_commands:
            LOG.warning("a command is at work in %s: the start waits for its end", self.path)
            self._is_told_of_commands = True
        time.sleep(AGAIN_SECONDS)

    @contextmanager
    def borrowing(self) -> Iterator[None]:
        """Holds a lock while a command has borrowed files: the next server that starts waits for its end."""
        with self._lock_file(BORROWERS) as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    def share(self) -> bool:
        """Keeps servers out while a command works here. False when a server runs."""
        file = self._lock_file()
        if not try_lock(file, fcntl.LOCK_SH):
            file.close()
            return False
        self._lock = file
        self._finish_swap()
        return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While it lasts, no other command is at work here. Only for one that has called `share`. Raises
        StorageError when there is another one.
        """
        assert self._lock is not None
        if not try_lock(self._lock, fcntl.LOCK_EX):
            raise StorageError(
                f"Another command is at work in {self.path}. Wait for its end and try again. Nothing was changed."
            )
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def server(self) -> Serving | None:
        """The server that has the folder now."""
        with self._lock_file() as file:
            if try_lock(file, fcntl.LOCK_SH):
                return None
            file.seek(0)
            return _holder(file.read())

    def _lock_file(self, name: str = LOCK) -> IO[str]:
        """A file to lock. Nobody else may open it: whoever has it open can lock it too."""
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
        """Writes down who serves the folder, for the error of a second server, whether it lends files, and the
        address for the links that commands print.
        """
        assert self._lock is not None
        self.address = address
        said = Serving(os.getpid(), listen, __version__, is_ready, lends, address)._asdict()
        os.pwrite(self._lock.fileno(), json.dumps(said).ljust(SAID_BYTES).encode(), 0)  # at once, for who reads

    def forget_deleted(self) -> None:
        """Removes all traces of deleted and changed data from `platform.db`. Nobody else may have it open."""
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
    """Makes the place of a data folder that is to be filled, such as by a restore, where it is not there yet, and
    has it alone. What fails before there are data takes away again what was made for it. Raises StorageError.
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
                with suppress(OSError):  # it holds something that is not ours
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
