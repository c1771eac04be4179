"""Tests of a group of reads over one connection: all read one snapshot, and each fails or is interrupted alone."""

from contextlib import closing
from functools import partial

import pytest

from tests.db.one_connection import PROVIDED, USER, Scene, add, told
from tests.db.test_reads_in_time import endless
from tests.db.test_unit_of_work import CODES, Refused
from wmsd.contract.context import PROGRAM
from wmsd.db.engine.failures import OutOfTime
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.unit_of_work import read_group, read_once, read_unit_in_time
from wmsd.db.engine.work import RunningRead, Work


def refuse(tx: Transaction) -> None:
    raise Refused


def show_codes(tx: Transaction) -> list[str]:
    return [code for (code,) in tx.rows(CODES)]


async def test_reads_of_a_group_share_a_snapshot_and_fail_alone(scene: Scene) -> None:
    scene.write(add("before"))

    def write_meanwhile(tx: Transaction) -> list[str]:
        found = show_codes(tx)
        scene.write(add("meanwhile"))
        return found

    run = read_group(scene.ordered, scene.ids, {str: PROVIDED}, scene.standing)
    with closing(connect(scene.path)) as reader:
        first, refused, last = group = scene.group(write_meanwhile, refuse, show_codes)
        run(reader, group)
        assert (first.result, last.result) == (["before"], ["before"])
        assert (first.error, type(refused.error), last.error) == (None, Refused, None)
        again = scene.group(show_codes)
        run(reader, again)
        assert again[0].result == ["before", "meanwhile"]


async def test_a_read_knows_its_moment_who_asks_and_what_is_provided(scene: Scene) -> None:
    noon = scene.clock.wall
    scene.clock.set_forward(7200)
    group = scene.group(told)
    read_group(scene.ordered, scene.ids, {str: PROVIDED}, scene.standing)(scene.connection, group)
    assert group[0].result == (scene.clock.wall, noon, USER, PROVIDED, scene.ids)
    once = read_once(scene.path, told, scene.ordered, scene.ids, {str: PROVIDED})
    assert once == (scene.clock.wall, noon, PROGRAM, PROVIDED, scene.ids)


async def test_a_read_once_writes_nothing(scene: Scene) -> None:
    read = partial(read_once, clock=scene.ordered, ids=scene.ids, provision={})
    scene.write(add("before"))
    assert read(scene.path, show_codes) == ["before"]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        read(scene.path, add("no"))
    assert scene.codes == ["before"]


async def test_a_read_once_shares_the_file_unless_it_is_to_have_it_alone(scene: Scene) -> None:
    """A single read shares the file unless it is told to use the file exclusively.

    A shared file has the index of its log in a file next to it.
    """
    scene.connection.close()
    index = scene.path.with_name("1.db-shm")
    read = partial(read_once, scene.path, lambda _: index.exists(), scene.ordered, scene.ids, {})
    assert [read(), read(alone=True), read(alone=False)] == [True, False, True]


async def test_a_read_that_is_over_does_not_begin_and_one_under_way_is_broken_off(scene: Scene) -> None:
    under_way = RunningRead()
    run = read_group(scene.ordered, scene.ids, {}, scene.standing, read_unit_in_time(under_way))
    left, broken_off, quick, _ = group = scene.group(show_codes, endless, show_codes, refuse)
    left.future.cancel()
    scene.connection.set_progress_handler(lambda: leave(broken_off), 10_000)

    def leave(work: Work) -> None:
        work.future.cancel()
        under_way.break_off_if_over(scene.connection)

    run(scene.connection, group)
    assert (left.result, quick.result) == (None, [])
    assert [type(work.error) for work in group] == [OutOfTime, OutOfTime, type(None), Refused]
    under_way.break_off_if_over(scene.connection)
    assert not scene.connection.in_transaction
