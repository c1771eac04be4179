"""How a group of units of work runs: writers share one commit, readers one snapshot."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.context import PROGRAM
from wmsd.base.ids import Ids
from wmsd.db.failures import OutOfTime
from wmsd.db.lane import GroupRunner, UnderWay, Work
from wmsd.db.sqlite import connect, sqlite3
from wmsd.db.transaction import AtCommit, Provision, Transaction

Begin = Callable[[sqlite3.Connection], Transaction]
Result = TypeVar("Result")


def commit_group(clock: OrderedClock, ids: Ids, provision: Provision) -> GroupRunner:
    """Each unit in its own savepoint, all in one transaction: one sync makes the whole group durable.

    A unit that fails is rolled back alone. When the commit fails, every unit of the group has failed. One that is
    alone needs no savepoint: the transaction is its own.
    """

    def run(connection: sqlite3.Connection, group: list[Work]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            now, ordered_now = clock.now(), clock.latest()
            at_commit: AtCommit = {}
            run_unit = _run_alone if len(group) == 1 else _run_unit
            for work in group:
                if not work.future.cancelled():
                    tx = Transaction(connection, now, ordered_now, ids, work.actor, provision, at_commit)
                    run_unit(connection, tx, work)
            for run_last in at_commit.values():
                run_last(Transaction(connection, now, ordered_now, ids, PROGRAM, provision))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    return run


def _run_alone(connection: sqlite3.Connection, tx: Transaction, work: Work) -> None:
    work.result = work.action(tx)
    tx.finish()


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


def read_unit_in_time(under_way: UnderWay) -> Callable[[Transaction, Work], None]:
    """As `read_unit`, of what is not over before it begins; `under_way` can break it off."""

    def run(tx: Transaction, work: Work) -> None:
        if work.is_over:
            work.error = OutOfTime()
            return
        under_way.begin(work)
        try:
            read_unit(tx, work)
        finally:
            under_way.end()
        if work.error is not None and work.is_over:
            work.error = OutOfTime()

    return run


def read_once(
    path: Path, action: Callable[[Transaction], Result], clock: OrderedClock, ids: Ids, provision: Provision
) -> Result:
    """On the thread that calls it, over a connection of its own. Raises sqlite3.Error."""
    connection = connect(path)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        return action(Transaction(connection, clock.now(), clock.latest(), ids, PROGRAM, provision))
    finally:
        connection.close()


def read_group(
    clock: OrderedClock,
    ids: Ids,
    provision: Provision,
    run_unit: Callable[[Transaction, Work], None] = read_unit,
) -> GroupRunner:
    """One snapshot for all: it begins after the last of them was asked for, so each sees what was committed."""

    def run(connection: sqlite3.Connection, group: list[Work]) -> None:
        connection.execute("BEGIN")
        try:
            now, ordered_now = clock.now(), clock.latest()
            for work in group:
                run_unit(Transaction(connection, now, ordered_now, ids, work.actor, provision), work)
        finally:
            connection.execute("COMMIT")

    return run
