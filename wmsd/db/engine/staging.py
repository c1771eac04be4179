"""Imports many rows: collects them beside the file, checks them on a snapshot, writes them in one transaction.

SQLite has one writer for each file, and collecting rows as the writer would keep all others waiting. So the rows
are collected in tables of a second file, without touching the first. Only `write` is the writer.
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
"""The schema name of the second file."""
HERE: Final = "temp"
"""The schema of tables in memory, for a few rows that are collected in the transaction that writes them."""


PREFIX: Final = "wmsd-import-"
LEAST_FREE: Final = 32 * 1024 * 1024
STEPS: Final = 200_000
"""Of SQLite's machine between two looks whether a write may go on: some milliseconds."""
OF_STAGED: Final = (
    f"cache_size = -{CACHE_KIB}",
    "journal_mode = OFF",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
)
"""Set while the file has its name. No journal: after a failure it is never read again."""
OF_COPY: Final = ("journal_mode = MEMORY", "synchronous = OFF", "locking_mode = EXCLUSIVE")
MADE_HERE: Final = f"SELECT name FROM {HERE}.sqlite_schema WHERE type = 'table'"


def forget_staged_rows(tx: Transaction) -> None:
    """Drops the tables in HERE, because the connection is used again."""
    for (name,) in tx.rows(MADE_HERE):
        tx.execute(f"DROP TABLE {HERE}.{name}")


MOST_PAGES: Final = 2**32 - 2
"""SQLite's own bound."""


class StagingFolder(NamedTuple):
    """A folder for the second file. `most_bytes`: how large it may get, and how much a copy of the company's file
    may grow; None for as much as the disk has. `least_free`: the bytes that a copy must leave free.
    """

    path: str
    most_bytes: int | None = None
    least_free: int = LEAST_FREE


class FileFull(StorageError):
    """A write would have taken the company's file over the size that it may have."""


class Staging:
    """A connection of its own, with the second file. That file has no name, so it disappears with the process,
    however that ends.
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
        """`of_copy`: works on a copy of the file as it is now, so that no other writer waits for it. `folder`:
        None for the temporary one.
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
                    f"The server's disk takes no file for this import: {error.strerror}. Tell the site admin."
                ) from None
            raise StorageError(
                f"No temporary file can be made in {self.folder}: {error.strerror}. Name another folder in TMPDIR."
            ) from None
        except sqlite3.Error as error:
            self._connection.close()
            raise self._explained(error) from error

    def _copied(self, path: Path) -> sqlite3.Connection:
        """A connection to a copy, which has no name either. Raises StorageError when there is no room for it."""
        needed = 2 * bytes_on_disk(path)
        if shutil.disk_usage(self.folder).free < needed + self._folder.least_free:
            if self._folder.most_bytes is not None:
                raise StorageError(
                    "The server's disk has no room to look at this file: it is tried on a copy of the company's "
                    f"data, for which {_megabytes(needed)} MB are needed. Tell the site admin."
                )
            raise StorageError(
                f"A preview works on a copy of {path.name}, for which {self.folder} has no room: {needed} bytes "
                "are needed. Make room there, or name another folder in TMPDIR."
            )
        try:
            with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=self.folder) as file:
                with closing(connect(path)) as source, closing(sqlite3.connect(file.name)) as target:
                    source.execute("BEGIN")  # one state, whoever writes meanwhile
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
        """Has the connection refuse to let the file grow by more; None for any growth."""
        (pages,) = self._connection.execute(f"PRAGMA {schema}.page_count").fetchone()
        (size,) = self._connection.execute(f"PRAGMA {schema}.page_size").fetchone()
        most = MOST_PAGES if more_bytes is None else pages + more_bytes // size
        self._connection.execute(f"PRAGMA {schema}.max_page_count = {max(most, 1)}")

    def close(self) -> None:
        self._connection.close()

    def begin_anew(self) -> None:
        """Forgets the rows that were collected: others, or the same ones read otherwise, can be collected."""
        self._connection.execute(f"DETACH {STAGED}")
        self._attach()

    def gather(self, action: Callable[[Transaction], Result]) -> Result:
        """Runs the action, which may write only to the second file. Raises StorageError when its
        folder is full.
        """
        try:
            return self._run("BEGIN", action)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def check(self, action: Callable[[Transaction], Result]) -> Result:
        """Runs the action on one snapshot of the file; it may also write to the second file. Others can write in
        the meantime.
        """
        return self.gather(action)

    def write(
        self,
        action: Callable[[Transaction], Result],
        before_commit: Callable[[], None] = lambda: None,
        look: Callable[[], None] | None = None,
        most_growth: int | None = None,
    ) -> Result:
        """Runs the action as one unit of work on the file. `before_commit` is called when only the
        COMMIT is left. `look` is called now and then: what it raises ends the write, and the log of the file gives
        its room back.

        Raises FileFull when the file would grow by more than `most_growth` bytes.
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
                f"This import needs more than the {_megabytes(most_growth)} MB that the company may still add. "
                "Nothing was imported: import fewer rows, or ask the site admin for more."
            ) from error
        finally:
            if most_growth is not None:
                self._bound("main", None)

    def _run_looking(self, action: Callable[[Transaction], Result], look: Callable[[], None]) -> Result:
        """SQLite calls the handler, and loses what is raised in it: so it is kept, and raised here."""
        objections: list[BaseException] = []

        def objects() -> bool:
            try:
                look()
            except BaseException as error:  # also Ctrl-C, which Python raises wherever it is just now
                objections.append(error)
            return bool(objections)

        self._connection.set_progress_handler(objects, STEPS)
        try:
            return self._run("BEGIN IMMEDIATE", action)
        except sqlite3.Error as error:
            if not objections and is_broken_off(error):  # nobody else interrupts: Ctrl-C came just before `try`
                objections.append(KeyboardInterrupt())
            if not objections:
                raise
        finally:
            self._connection.set_progress_handler(None, 0)
        self._cut_log()
        raise objections[0]

    def _cut_log(self) -> None:
        """What was taken back stands in the log, and takes room until it begins anew. Where others read the file
        just now, the server cuts it.
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
                f"This file needs more room on the server's disk than an import may have, {_megabytes(most)} MB. "
                "Nothing was imported: divide the file, and import the parts one after the other."
            )
        return StorageError(
            f"The rows cannot be written to the temporary folder {self.folder}: {error}. "
            "Make room there, or name another folder in TMPDIR."
        )


def _megabytes(number: int) -> int:
    return number // 1_000_000
