"""Imports many rows: collects them beside the file, checks them on a snapshot, writes them in one transaction.

SQLite has one writer for each file, and collecting rows as the writer would keep all others waiting. So the rows
are collected in tables of a second file, without touching the first. Only `write` is the writer.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.context import PROGRAM
from wmsd.base.ids import Ids
from wmsd.db.failures import StorageError, is_of_disk
from wmsd.db.sqlite import connect, sqlite3
from wmsd.db.transaction import AtCommit, Provision, Transaction
from wmsd.db.unit_of_work import commit, roll_back

Result = TypeVar("Result")
STAGED: Final = "staged"
"""The schema name of the second file."""
HERE: Final = "temp"
"""The schema of tables in memory, for a few rows that are collected in the transaction that writes them."""


MADE_HERE: Final = f"SELECT name FROM {HERE}.sqlite_schema WHERE type = 'table'"


def forget(tx: Transaction) -> None:
    """Drops the tables in HERE, because the connection is used again."""
    for (name,) in tx.rows(MADE_HERE):
        tx.execute(f"DROP TABLE {HERE}.{name}")


class Staging:
    """A connection of its own, with the second file. That file has no name, so it disappears with the process,
    however that ends.
    """

    def __init__(self, path: Path, clock: OrderedClock, ids: Ids, provision: Provision) -> None:
        self._clock, self._ids, self._provision = clock, ids, provision
        self.folder = tempfile.gettempdir()
        self._connection = connect(path)
        try:
            with tempfile.NamedTemporaryFile(prefix="wmsd-import-", dir=self.folder) as file:
                self._connection.execute(f"ATTACH ? AS {STAGED}", (file.name,))
                # Set while the file has its name. No journal: after a failure it is never read again.
                self._connection.execute(f"PRAGMA {STAGED}.journal_mode = OFF")
                self._connection.execute(f"PRAGMA {STAGED}.synchronous = OFF")
                self._connection.execute(f"PRAGMA {STAGED}.locking_mode = EXCLUSIVE")
                self._connection.execute(f"CREATE TABLE {STAGED}.begun (one)")
        except OSError as error:
            self._connection.close()
            raise StorageError(
                f"No temporary file can be made in {self.folder}: {error.strerror}. Name another folder in TMPDIR."
            ) from None
        except sqlite3.Error as error:
            self._connection.close()
            raise self._explained(error) from error

    def close(self) -> None:
        self._connection.close()

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
        self, action: Callable[[Transaction], Result], before_commit: Callable[[], None] = lambda: None
    ) -> Result:
        """Runs the action as one unit of work on the file. `before_commit` is called when only the
        COMMIT is left.
        """

        def run(tx: Transaction) -> Result:
            result = action(tx)
            tx.finish()
            for run_last in tx.at_commit.values():
                run_last(self._transaction({}))
            before_commit()
            return result

        return self._run("BEGIN IMMEDIATE", run)

    def _run(self, begin: str, action: Callable[[Transaction], Result]) -> Result:
        self._connection.execute(begin)
        try:
            result = action(self._transaction({}))
        except BaseException:
            roll_back(self._connection)
            raise
        commit(self._connection)
        return result

    def _transaction(self, at_commit: AtCommit) -> Transaction:
        now, ordered_now = self._clock.now(), self._clock.latest()
        return Transaction(self._connection, now, ordered_now, self._ids, PROGRAM, self._provision, at_commit)

    def _explained(self, error: sqlite3.Error) -> Exception:
        if not is_of_disk(error):
            return error
        return StorageError(
            f"The rows cannot be written to the temporary folder {self.folder}: {error}. "
            "Make room there, or name another folder in TMPDIR."
        )
