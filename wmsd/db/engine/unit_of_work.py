"""Runs units of work in groups: the writes of a group share one commit, and the reads of a group share one
snapshot.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.contract.context import PROGRAM
from wmsd.db.engine.connection_queue import LARGEST_GROUP
from wmsd.db.engine.failures import FileMoved, OutcomeUnknown, OutOfTime, is_delay, is_in_doubt
from wmsd.db.engine.file_owner import Owner, check_owner
from wmsd.db.engine.loop_connection import LoopConnection
from wmsd.db.engine.replaced_files import Standing
from wmsd.db.engine.sqlite import BUSY_SECONDS, connect, sqlite3
from wmsd.db.engine.transaction import AtCommit, Provision, Transaction
from wmsd.db.engine.work import GroupRunner, RunningRead, Work
from wmsd.db.engine.write_ahead_log import WriteAheadLog

Begin = Callable[[sqlite3.Connection], Transaction]
Result = TypeVar("Result")
GROUP_SECONDS: Final = 0.02
"""After this processor time, a group on the event loop takes no further unit of work."""
LOOK_SECONDS: Final = 0.005
"""How many seconds wmsd waits between two attempts to begin a write. SQLite's own wait is not used, because SQLite
tries less often. It can miss the short time between two transactions of another writer.
"""


class TooLong(Exception):
    """The error for a unit of work that takes too long for the event loop."""


class CommitGroup:
    """Runs groups of writes, on a thread when it is called, and on the event loop by `run`.

    Each unit of work has a savepoint. All units of a group share one transaction, so that one sync makes the whole
    group durable.

    If a unit fails, only the changes of this unit are rolled back. If the commit fails, every unit of the group
    fails. A single unit needs no savepoint, because it has the transaction to itself.
    """

    def __init__(self, clock: OrderedClock, ids: Ids, provision: Provision, standing: Standing) -> None:
        self.log = WriteAheadLog(standing)
        self._clock = clock
        self._ids = ids
        self._provision = provision
        self._standing = standing
        self._is_in_doubt = False
        """True if the write-ahead log may contain a group whose commit has failed. In this case, a restart would
        apply the changes of this group.
        """

    def __call__(self, connection: sqlite3.Connection, group: list[Work]) -> None:
        """Run the group. Raise FileMoved, OutcomeUnknown or sqlite3.Error if all units of the group have
        failed.
        """
        self._standing.check()
        if self._is_in_doubt:
            write_over(connection)
            self._is_in_doubt = False
        self.log.prepare(connection)
        try:
            begin_to_write(connection)
            self.log.name(connection)
            self._run(connection, group)
        except BaseException:
            roll_back(connection)
            raise
        self.commit(connection)

    def run(self, connection: LoopConnection, waiting: Sequence[Work]) -> list[Work]:
        """Run a group on the event loop, as `GroupOnLoop` describes.

        The group ends after `GROUP_SECONDS`, or before a unit of work that may not be repeated. A thread must run
        it if a unit takes too long, if another process is writing the file, or if anything fails that is not the
        failure of a single unit.
        """
        if self._is_in_doubt:
            return []
        group: list[Work] = []
        try:
            self._standing.check()
            self.log.prepare(connection.sqlite)
            connection.bound()
            begin(connection.sqlite, "BEGIN IMMEDIATE")
            self.log.name(connection.sqlite)
            self._run_on_loop(connection, waiting, group)
        except Exception:  # whatever the error is, the thread finds it again and reports it
            self.undo(connection.sqlite, group)
            return []
        finally:
            connection.end()
        return group

    def _run_on_loop(self, connection: LoopConnection, waiting: Sequence[Work], group: list[Work]) -> None:
        sqlite, now, ordered_now = connection.sqlite, self._clock.now(), self._clock.ordering()
        at_commit: AtCommit = {}
        run_unit = _run_alone_on_loop if len(waiting) == 1 else _run_unit
        began = spent = time.thread_time()
        for work in islice(waiting, LARGEST_GROUP):
            if not work.may_repeat or spent - began > GROUP_SECONDS:
                break
            group.append(work)
            if work.future.cancelled():
                continue
            tx = Transaction(sqlite, now, ordered_now, self._ids, work.actor, self._provision, at_commit)
            connection.begin(spent)
            run_unit(sqlite, tx, work)
            if connection.was_interrupted or is_delay(work.error):
                raise TooLong
            spent = time.thread_time()
        if sqlite.in_transaction:
            connection.begin(spent, GROUP_SECONDS)
            self._run_at_commit(sqlite, at_commit, now, ordered_now)
            if connection.was_interrupted:
                raise TooLong

    def undo(self, connection: sqlite3.Connection, group: list[Work]) -> None:
        for work in group:
            work.result = work.error = None
        with suppress(sqlite3.Error):  # the next group rolls back again, and reports the error
            roll_back(connection)

    def _run(self, connection: sqlite3.Connection, group: list[Work]) -> None:
        now, ordered_now = self._clock.now(), self._clock.ordering()
        at_commit: AtCommit = {}
        run_unit = _run_alone if len(group) == 1 else _run_unit
        for work in group:
            if not work.future.cancelled():
                tx = Transaction(connection, now, ordered_now, self._ids, work.actor, self._provision, at_commit)
                run_unit(connection, tx, work)
        self._run_at_commit(connection, at_commit, now, ordered_now)

    def _run_at_commit(
        self, connection: sqlite3.Connection, at_commit: AtCommit, now: datetime, ordered_now: datetime
    ) -> None:
        for run_last in at_commit.values():
            run_last(Transaction(connection, now, ordered_now, self._ids, PROGRAM, self._provision))

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit the group. Raise OutcomeUnknown or sqlite3.Error if all its units have failed."""
        self._commit(connection)
        self.log.committed(connection)

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            commit(connection)
        except OutcomeUnknown:
            self._is_in_doubt = True
            raise
        try:
            self._standing.check()  # so that acknowledged data is in the file with that name
        except (FileMoved, MemoryError) as error:
            raise OutcomeUnknown(str(error)) from error


def commit(connection: sqlite3.Connection) -> None:
    """Commit. On failure, roll back and raise sqlite3.Error, or OutcomeUnknown if the changes may have been
    stored.

    If a sync fails, SQLite leaves the transaction in the write-ahead log. The next connection that opens the file
    would apply it. Therefore this function writes an empty transaction over it.
    """
    try:
        connection.execute("COMMIT")
    except BaseException as error:
        is_undone = connection.in_transaction or isinstance(error, sqlite3.Error)
        roll_back(connection)
        if not is_undone:  # it was committed, but memory ran out before the answer
            raise OutcomeUnknown(str(error)) from error
        if is_in_doubt(error):
            try:
                write_over(connection)
            except sqlite3.Error:
                raise OutcomeUnknown(str(error)) from error
        raise


def write_over(connection: sqlite3.Connection) -> None:
    """Overwrite the transaction of a failed commit in the log: commit a transaction that changes nothing.

    Raise sqlite3.Error if that fails.
    """
    try:
        begin_to_write(connection)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def begin(connection: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction with `statement`. First roll back a transaction that was left open after a shortage of
    memory.
    """
    roll_back(connection)
    connection.execute(statement)


def begin_to_write(connection: sqlite3.Connection) -> None:
    """Begin a transaction for writing. Wait up to BUSY_SECONDS for other writers of the file.

    The wait is in this function and not in SQLite: the event loop also uses some of the connections, so SQLite
    must not wait on them.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return begin(connection, "BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if not is_delay(error) or time.monotonic() > until:
                raise
        time.sleep(LOOK_SECONDS)


def roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _run_alone(connection: sqlite3.Connection, tx: Transaction, work: Work) -> None:
    work.result = work.action(tx)
    tx.finish()


def _run_alone_on_loop(connection: sqlite3.Connection, tx: Transaction, work: Work) -> None:
    try:
        _run_alone(connection, tx, work)
    except BaseException as error:
        roll_back(connection)
        work.error = error


def _run_unit(connection: sqlite3.Connection, tx: Transaction, work: Work) -> None:
    connection.execute("SAVEPOINT unit")
    try:
        work.result = work.action(tx)
        tx.finish()
    except BaseException as error:
        if not connection.in_transaction:  # a full disk rolls the whole group back
            raise
        connection.execute("ROLLBACK TO unit")
        work.error = error
    connection.execute("RELEASE unit")


def read_unit(tx: Transaction, work: Work) -> None:
    try:
        work.result = work.action(tx)
    except BaseException as error:
        work.error = error


def read_unit_in_time(under_way: RunningRead) -> Callable[[Transaction, Work], None]:
    """Return a function that runs a read as `read_unit` does, but within the read's time limit.

    After the time limit, the read fails with OutOfTime. The function records in `under_way` which read is running,
    so that another thread can interrupt the read.
    """

    def run(tx: Transaction, work: Work) -> None:
        if work.is_over:
            work.error = OutOfTime()
            return
        under_way.begin(work)
        read_unit(tx, work)  # read_unit raises nothing
        under_way.end()
        if work.error is not None and work.is_over:
            work.error = OutOfTime()

    return run


def read_once(
    path: Path,
    action: Callable[[Transaction], Result],
    clock: OrderedClock,
    ids: Ids,
    provision: Provision,
    alone: bool = False,
    owner: Owner | None = None,
) -> Result:
    """Run a read on the calling thread, with a separate connection. Return its result.

    If `owner` is passed, raise WrongOwner if the file belongs to another company. Raise sqlite3.Error if the read
    fails.
    """
    with closing(connect(path, alone=alone)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        if owner is not None:
            check_owner(connection, path, owner)
        return action(Transaction(connection, clock.now(), clock.ordering(), ids, PROGRAM, provision))


def read_group(
    clock: OrderedClock,
    ids: Ids,
    provision: Provision,
    standing: Standing,
    run_unit: Callable[[Transaction, Work], None] = read_unit,
) -> GroupRunner:
    """Return a function that runs a group of reads on one snapshot. The function runs each read with `run_unit`.

    The snapshot begins when the group starts, so each read sees all earlier commits. If a read writes, its changes
    are rolled back and all reads of the group fail. If the open file was removed, replaced or overwritten, all
    reads fail with FileMoved.
    """

    def run(connection: sqlite3.Connection, group: list[Work]) -> None:
        standing.check_file()
        changes = connection.total_changes
        begin(connection, "BEGIN")
        try:
            now, ordered_now = clock.now(), clock.ordering()
            for work in group:
                run_unit(Transaction(connection, now, ordered_now, ids, work.actor, provision), work)
        finally:
            has_written = connection.total_changes != changes
            if connection.in_transaction:  # SQLite itself ends the transaction after some errors of the disk
                connection.execute("ROLLBACK" if has_written else "COMMIT")
        if has_written:
            raise sqlite3.ProgrammingError("a read has tried to write")

    return run
