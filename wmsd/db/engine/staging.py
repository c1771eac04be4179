"""Imports many rows in three steps: collect them in a second file, check them on a snapshot, and write them in one
transaction.

SQLite has one writer for each file. If it collected the rows, all other writers would have to wait. Therefore the
rows are collected in tables of a second file, and the company's file is not changed. Only `write` writes to the
company's file.
"""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.contract.context import PROGRAM, Actor
from wmsd.db.engine.failures import StorageError, is_broken_off, is_of_disk
from wmsd.db.engine.sqlite import CACHE_KIB, bytes_on_disk, connect, sqlite3
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.engine.unit_of_work import commit, roll_back

Result = TypeVar("Result")
STAGED: Final = "staged"
"""The schema name of the second file, in SQL statements."""
HERE: Final = "temp"
"""The schema name of SQLite's temporary tables. wmsd uses them for small numbers of rows that are collected and
written in the same transaction.
"""


PREFIX: Final = "wmsd-import-"
LEAST_FREE: Final = 32 * 1024 * 1024
STEPS: Final = 200_000
"""How many of SQLite's steps run between two calls of `look` (see `Staging.write`). This number of steps takes
some milliseconds.
"""
OF_STAGED: Final = (
    f"cache_size = -{CACHE_KIB}",
    "journal_mode = OFF",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
)
"""The pragmas of the second file. They are executed before the file's name is deleted. The file needs no journal,
because it is never read after a failure.
"""
OF_COPY: Final = ("journal_mode = MEMORY", "synchronous = OFF", "locking_mode = EXCLUSIVE")
MADE_HERE: Final = f"SELECT name FROM {HERE}.sqlite_schema WHERE type = 'table'"


def forget_staged_rows(tx: Transaction) -> None:
    """Drop the tables in `HERE`, so that the connection can be used for other work."""
    for (name,) in tx.rows(MADE_HERE):
        tx.execute(f"DROP TABLE {HERE}.{name}")


MOST_PAGES: Final = 2**32 - 2
"""SQLite's own limit for the number of pages in a file."""


class StagingFolder(NamedTuple):
    """A folder for the second file.

    `most_bytes` limits the size of the second file, and the growth of a copy of the company's file. None means no
    limit except the disk. `least_free` is how many bytes of the disk must stay free when a copy is created.
    """

    path: str
    most_bytes: int | None = None
    least_free: int = LEAST_FREE


class FileFull(StorageError):
    """The error if a write needs more space than the company may still use."""


class Staging:
    """A separate connection to a company's file, with a second file in which the rows are collected.

    The name of the second file is deleted immediately after the file is created. Therefore the file disappears
    when the process ends, even if the process is killed.
    """

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        provision: Provision,
        actor: Actor = PROGRAM,
        of_copy: bool = False,
        folder: StagingFolder | None = None,
    ) -> None:
        """Open the connection and the second file.

        If `of_copy` is True, use a copy of the company's file, so that no other writer has to wait. If `folder` is
        None, create the second file and the copy in the system's temporary folder.
        """
        self._clock, self._ids, self._provision, self._actor = clock, ids, provision, actor
        self._folder = StagingFolder(tempfile.gettempdir()) if folder is None else folder
        self.folder = self._folder.path
        self._is_copy = of_copy
        self._connection = self._copied(path) if of_copy else connect(path)
        if of_copy:
            self._bound("main", self._folder.most_bytes)
        self._attach()

    def _attach(self) -> None:
        try:
            with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=self.folder) as file:
                self._connection.execute(f"ATTACH ? AS {STAGED}", (file.name,))
                self._bound(STAGED, self._folder.most_bytes)
                for pragma in OF_STAGED:
                    self._connection.execute(f"PRAGMA {STAGED}.{pragma}")
                self._connection.execute(f"CREATE TABLE {STAGED}.begun (one)")
        except OSError as error:
            self._connection.close()
            if self._folder.most_bytes is not None:
                raise StorageError(
                    f"The server cannot create a temporary file for this import: {error.strerror}. Tell the "
                    "platform admin."
                ) from None
            raise StorageError(
                f"No temporary file can be created in {self.folder}: {error.strerror}. Name another folder "
                "in TMPDIR."
            ) from None
        except sqlite3.Error as error:
            self._connection.close()
            raise self._explained(error) from error

    def _copied(self, path: Path) -> sqlite3.Connection:
        """Return a connection to a copy of the file at `path`. The name of the copy is deleted, so that the copy
        disappears with the process.

        Raise StorageError if there is not enough space for the copy.
        """
        needed = 2 * bytes_on_disk(path)
        if shutil.disk_usage(self.folder).free < needed + self._folder.least_free:
            if self._folder.most_bytes is not None:
                raise StorageError(
                    "The server's disk has too little space to check this file: the check uses a copy of "
                    f"the company's data and needs {_megabytes(needed)} MB. Tell the platform admin."
                )
            raise StorageError(
                f"The preview needs a copy of {path.name}, but {self.folder} has too little space: {needed} "
                "bytes are needed. Free some space there, or name another folder in TMPDIR."
            )
        try:
            with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=self.folder) as file:
                with closing(connect(path)) as source, closing(sqlite3.connect(file.name)) as target:
                    source.execute("BEGIN")  # one state, whichever process writes meanwhile
                    source.backup(target)
                connection = connect(Path(file.name))
                for pragma in OF_COPY:
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("COMMIT")
                return connection
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _bound(self, schema: str, more_bytes: int | None) -> None:
        """Let the file of `schema` grow by at most `more_bytes`. None removes the limit."""
        (pages,) = self._connection.execute(f"PRAGMA {schema}.page_count").fetchone()
        (size,) = self._connection.execute(f"PRAGMA {schema}.page_size").fetchone()
        most = MOST_PAGES if more_bytes is None else pages + more_bytes // size
        self._connection.execute(f"PRAGMA {schema}.max_page_count = {max(most, 1)}")

    def close(self) -> None:
        self._connection.close()

    def start_again(self) -> None:
        """Drop the collected rows, so that rows can be collected again, for example when the imported file is read
        a second time.
        """
        self._connection.execute(f"DETACH {STAGED}")
        self._attach()

    def gather(self, action: Callable[[Transaction], Result]) -> Result:
        """Run the action, which may write only to the second file. Raise StorageError if the second file cannot
        grow.
        """
        try:
            return self._run("BEGIN", action)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def check(self, action: Callable[[Transaction], Result]) -> Result:
        """Run the action on one snapshot of the company's file. The action may also write to the second file.

        During the action, other connections can write to the company's file.
        """
        return self.gather(action)

    def write(
        self,
        action: Callable[[Transaction], Result],
        before_commit: Callable[[], None] = lambda: None,
        look: Callable[[], None] | None = None,
        most_growth: int | None = None,
    ) -> Result:
        """Run the action as one unit of work on the company's file, and return its result.

        `before_commit` is called directly before the COMMIT. `look` is called at intervals. If `look` raises an
        error, roll back the write and raise this error. Raise FileFull if the company's file would have to grow by
        more than `most_growth` bytes.
        """

        def run(tx: Transaction) -> Result:
            result = action(tx)
            tx.finish()
            for run_last in tx.at_commit.values():
                run_last(self._transaction())
            before_commit()
            return result

        if most_growth is not None:
            self._bound("main", most_growth)
        try:
            return self._run("BEGIN IMMEDIATE", run) if look is None else self._run_looking(run, look)
        except sqlite3.Error as error:
            if self._is_copy:
                raise self._explained(error) from error
            if most_growth is None or error.sqlite_errorname != "SQLITE_FULL":
                raise
            self._cut_log()
            raise FileFull(
                f"This import needs more than the {_megabytes(most_growth)} MB that the company may still "
                "add. Nothing was imported. Import fewer rows, or ask the platform admin for more space."
            ) from error
        finally:
            if most_growth is not None:
                self._bound("main", None)

    def _run_looking(self, action: Callable[[Transaction], Result], look: Callable[[], None]) -> Result:
        """Run the action, and call `look` at intervals.

        `look` is called in SQLite's progress handler, which discards errors. Therefore an error of `look` is
        stored, and raised at the end of this function.
        """
        objections: list[BaseException] = []

        def objects() -> bool:
            try:
                look()
            except BaseException as error:  # also Ctrl-C, which Python may raise at any line
                objections.append(error)
            return bool(objections)

        self._connection.set_progress_handler(objects, STEPS)
        try:
            return self._run("BEGIN IMMEDIATE", action)
        except sqlite3.Error as error:
            if not objections and is_broken_off(error):  # no other code interrupts: Ctrl-C came just before `try`
                objections.append(KeyboardInterrupt())
            if not objections:
                raise
        finally:
            self._connection.set_progress_handler(None, 0)
        self._cut_log()
        raise objections[0]

    def _cut_log(self) -> None:
        """Truncate the write-ahead log, because the rolled-back changes still take space in it.

        If other connections are reading the database file, the server truncates the log later.
        """
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(self, begin: str, action: Callable[[Transaction], Result]) -> Result:
        self._connection.execute(begin)
        try:
            result = action(self._transaction())
        except BaseException:
            roll_back(self._connection)
            raise
        commit(self._connection)
        return result

    def _transaction(self) -> Transaction:
        now, ordered_now = self._clock.now(), self._clock.ordering()
        return Transaction(self._connection, now, ordered_now, self._ids, self._actor, self._provision)

    def _explained(self, error: sqlite3.Error) -> Exception:
        if not is_of_disk(error):
            return error
        if (most := self._folder.most_bytes) is not None:
            return StorageError(
                f"This file needs more than the {_megabytes(most)} MB of disk space that an import may use. "
                "Nothing was imported: split the file, and import the parts one after the other."
            )
        return StorageError(
            f"The rows cannot be written to the temporary folder {self.folder}: {error}. Free some space "
            "there, or name another folder in TMPDIR."
        )


def _megabytes(number: int) -> int:
    return number // 1_000_000
