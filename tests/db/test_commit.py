"""Tests of a group of units over one connection: what is written, what is undone, and the errors of a failing
disk.
"""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.db.one_connection import PROVIDED, USER, Scene, add, told
from tests.db.test_unit_of_work import ADD, CODES, Refused, add_then_refuse
from wmsd.contract.context import PROGRAM
from wmsd.db.engine.failures import FileMoved, OutcomeUnknown
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.unit_of_work import write_over

ORPHAN = """
    INSERT INTO stock (article_id, warehouse_id, change_seq, created_at, updated_at) VALUES (98, 99, 1, '', '')
"""
LARGE = "x" * 3_000_000
"""A text larger than the disk accepts in `disk_failing`, and larger than what is written over it."""


def add_at_the_end(code: str) -> Callable[[Transaction], None]:
    """Return a unit that adds the article only when its action has returned."""

    def unit(tx: Transaction) -> None:
        def run(gathered: str) -> None:
            tx.insert(ADD, (gathered,))

        tx.at_end("add", run, lambda: code)

    return unit


@contextmanager
def disk_failing(beyond: int) -> Iterator[None]:
    """Let no file grow beyond this number of bytes. SQLite treats the failure as an input/output error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_each_unit_has_its_own_result(scene: Scene) -> None:
    for group in (scene.write(add("a")), scene.write(add("b"), add("c"))):
        assert all(work.error is None for work in group)
    assert [work.result for work in group] == [2, 3]
    assert scene.codes == ["a", "b", "c"]
    assert not scene.connection.in_transaction


async def test_what_was_put_off_to_the_end_is_part_of_the_unit(scene: Scene) -> None:
    scene.write(add_at_the_end("alone"))
    scene.write(add_at_the_end("first"), add_at_the_end("second"))
    assert scene.codes == ["alone", "first", "second"]


async def test_a_unit_that_fails_is_undone_alone(scene: Scene) -> None:
    first, refused, last = scene.write(add("first"), add_then_refuse, add("last"))
    assert (first.error, type(refused.error), last.error) == (None, Refused, None)
    assert scene.codes == ["first", "last"]


async def test_a_unit_that_fails_alone_undoes_its_transaction(scene: Scene) -> None:
    with pytest.raises(Refused):
        scene.write(add_then_refuse)
    assert not scene.connection.in_transaction
    scene.write(add("after"))
    assert scene.codes == ["after"]


async def test_what_nobody_waits_for_does_not_run(scene: Scene) -> None:
    group = scene.group(add("first"), add("left"), add("last"))
    group[1].future.cancel()
    scene.commits(scene.connection, group)
    assert scene.codes == ["first", "last"]


async def test_a_unit_knows_its_moment_who_asked_and_what_is_provided(scene: Scene) -> None:
    noon = scene.clock.wall
    scene.clock.set_forward(7200)
    for group in (scene.write(told), scene.write(told, told)):
        assert [work.result for work in group] == [
            (datetime(2026, 11, 20, 14, tzinfo=UTC), noon, USER, PROVIDED, scene.ids)
        ] * len(group)


async def test_what_the_units_share_is_done_once_and_last_by_the_program(scene: Scene) -> None:
    found: list[Any] = []

    def share(tx: Transaction) -> None:
        tx.at_commit.setdefault("count", count)

    def count(tx: Transaction) -> None:
        found.append((tx.rows(CODES), tx.now, tx.ordered_now, tx.actor, tx.service(str), tx.ids))

    noon = scene.clock.wall
    scene.clock.set_forward(7200)
    scene.write(share, add("a"), share, add("b"))
    assert found == [([("a",), ("b",)], scene.clock.wall, noon, PROGRAM, PROVIDED, scene.ids)]
    scene.write(add("c"))
    assert len(found) == 1


async def test_what_the_units_share_fails_with_all_of_them(scene: Scene) -> None:
    def share(tx: Transaction) -> None:
        tx.insert(ADD, ("shared",))
        tx.at_commit["refuse"] = add_then_refuse

    with pytest.raises(Refused):
        scene.write(share, add("a"))
    scene.write(add("after"))
    assert scene.codes == ["after"]


async def test_the_disk_fails_within_a_commit_and_nothing_was_changed(scene: Scene) -> None:
    scene.write(add("before"))
    with disk_failing(beyond=1_000_000):
        for group in ((add(LARGE),), (add("with it"), add(LARGE))):
            with pytest.raises(sqlite3.OperationalError) as failed:
                scene.write(*group)
            assert failed.value.sqlite_errorname == "SQLITE_IOERR"
            assert not scene.connection.in_transaction
        scene.write(add("small"))
    assert scene.codes == ["before", "small"]


async def test_a_commit_that_cannot_be_written_over_is_in_doubt_until_it_can(scene: Scene) -> None:
    scene.write(add("before"))
    with disk_failing(beyond=1):
        with pytest.raises(OutcomeUnknown, match="disk I/O error") as unknown:
            scene.write(add("in doubt"))
        assert isinstance(unknown.value.__cause__, sqlite3.OperationalError)
        for _ in range(3):
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                scene.write(lambda tx: pytest.fail("nothing more runs before it is over"))
            assert not scene.connection.in_transaction
    size = scene.log_bytes
    scene.write(lambda tx: None)
    assert scene.log_bytes > size, "it is written over, though the unit writes nothing"
    size = scene.log_bytes
    scene.write(lambda tx: None)
    assert scene.log_bytes == size, "once"
    scene.write(add("after"))
    assert scene.codes == ["before", "after"]


async def test_without_doubt_nothing_is_written_over(scene: Scene) -> None:
    scene.write(add("first of its log"))
    size = scene.log_bytes
    scene.write(lambda tx: None)
    assert scene.log_bytes == size


async def test_what_is_written_over_keeps_the_version_of_the_file(scene: Scene) -> None:
    version = scene.connection.execute("PRAGMA user_version").fetchone()
    scene.write(add("before"))
    size = scene.log_bytes
    write_over(scene.connection)
    assert scene.connection.execute("PRAGMA user_version").fetchone() == version != (0,)
    assert scene.log_bytes > size
    assert not scene.connection.in_transaction


async def test_a_commit_that_is_refused_is_undone_and_not_in_doubt(scene: Scene) -> None:
    scene.write(add("before"))
    size = scene.log_bytes

    def orphan(tx: Transaction) -> None:
        """Insert a row that refers to an article and a warehouse that do not exist. The commit detects this."""
        tx.execute("PRAGMA defer_foreign_keys = ON")
        tx.execute(ORPHAN)

    for _ in range(2):
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            scene.write(orphan)
        assert not scene.connection.in_transaction
    assert scene.log_bytes == size, "nothing is written over"
    scene.write(add("after"))
    assert scene.codes == ["before", "after"]


async def test_a_file_that_has_gone_takes_nothing(scene: Scene) -> None:
    scene.write(add("before"))
    away = scene.path.rename(scene.path.with_name("away.db"))
    with pytest.raises(FileMoved):
        scene.write(lambda tx: pytest.fail("it runs"))
    away.rename(scene.path)
    assert scene.codes == ["before"]


async def test_a_file_that_goes_during_a_commit_leaves_the_outcome_unknown(scene: Scene) -> None:
    away = scene.path.with_name("away.db")

    def move(tx: Transaction) -> None:
        tx.insert(ADD, ("written",))
        scene.path.rename(away)

    with pytest.raises(OutcomeUnknown, match=r"1\.db was removed or replaced while it was in use") as unknown:
        scene.write(move)
    assert isinstance(unknown.value.__cause__, FileMoved)
