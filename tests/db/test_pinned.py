"""Tests of a snapshot of a file: its bytes can be copied while others write."""

import asyncio
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.db.test_unit_of_work import ADD, CODES
from wmsd.db.engine import file_connections
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.replaced_files import Identity, identity
from wmsd.db.engine.snapshots import Extent, Snapshot
from wmsd.db.engine.sqlite import connect, connect_as_it_is, log_bytes
from wmsd.db.engine.state_bytes import StateBytes
from wmsd.db.engine.transaction import Transaction


def copy(held: Snapshot, target: Path) -> Path:
    """Copy the snapshot as another process does.

    The descriptors of the copy are closed only after the connections of this test.
    """
    state = StateBytes(held.path)
    try:
        state.begin(held.extent)
        written = b"".join(state)
    finally:
        state.close()
    assert len(written) == state.bytes
    target.write_bytes(written)
    return target


def codes_in(path: Path) -> list[str]:
    connection = connect_as_it_is(path, without_log=True)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [code for (code,) in connection.execute(CODES)]
    finally:
        connection.close()


def add(tx: Transaction, code: str) -> None:
    tx.execute(ADD, (code,))


def add_many(tx: Transaction, number: int) -> None:
    for each in range(300):
        add(tx, f"{number}-{each:0100}")


async def write(database: Database, *codes: str) -> None:
    for code in codes:
        await database.write(partial(add, code=code))


async def test_the_copy_is_the_state_at_the_moment_of_holding(database: Database, tmp_path: Path) -> None:
    await write(database, "A", "B")
    async with database.pinned() as held:
        assert held.extent.log_bytes == log_bytes(database.path)
        await write(database, "C")
        assert codes_in(copy(held, tmp_path / "copy.db")) == ["A", "B"]
        assert await database.read_pinned(held, lambda tx: tx.rows(CODES)) == [("A",), ("B",)]
    assert await database.read(lambda tx: len(tx.rows(CODES))) == 3


async def test_a_state_that_is_in_the_file_alone(database: Database, tmp_path: Path) -> None:
    await write(database, "A")
    connection = connect(database.path)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    connection.close()
    async with database.pinned() as held:
        assert held.extent.log_bytes == 0
        await write(database, "B", "C")  # the log starts anew
        assert codes_in(copy(held, tmp_path / "copy.db")) == ["A"]


async def test_a_log_that_is_written_back_meanwhile(database: Database, tmp_path: Path) -> None:
    """A snapshot stays the same when thousands of pages are written.

    The writer writes the pages into the file as far as the state allows, and the file grows.
    """
    await write(database, "A")
    async with database.pinned() as held:
        for number in range(60):
            await database.write(partial(add_many, number=number))
        assert database.path.stat().st_size > 0
        assert codes_in(copy(held, tmp_path / "copy.db")) == ["A"]
    async with database.pinned() as held:
        assert len(codes_in(copy(held, tmp_path / "second.db"))) == 60 * 300 + 1


async def test_a_file_that_is_opened_anew_waits_for_the_copy(database: Database) -> None:
    await write(database, "A")
    async with database.pinned() as held:
        lending = asyncio.ensure_future(database.lend())
        await asyncio.sleep(0.05)
        assert held.is_held
        assert not lending.done()
        await write(database, "B")
    await lending
    await database.take_back()


async def test_a_slow_copy_loses_its_state_to_whoever_needs_the_file(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_connections, "PATIENCE_SECONDS", 0.01)
    await write(database, "A")
    async with database.pinned() as held:
        await database.lend()
        assert not held.is_held
        with pytest.raises(StorageError, match="is no longer available"):
            await database.read_pinned(held, lambda tx: tx.rows(CODES))
    await database.take_back()


async def test_a_file_in_use_by_a_copy_is_not_idle(database: Database) -> None:
    await write(database, "A")
    async with database.pinned():
        assert not database.is_idle
    assert database.is_idle


async def test_closing_releases_the_state(database: Database) -> None:
    await write(database, "A")
    async with database.pinned() as held:
        await database.close()
        assert not held.is_held


async def test_one_who_goes_away_leaves_no_state_held(database: Database) -> None:
    await write(database, "A")

    async def hold() -> None:
        async with database.pinned():
            await asyncio.sleep(60)

    for wait in (0.0, 0.001, 0.05):
        holding = asyncio.ensure_future(hold())
        await asyncio.sleep(wait)
        holding.cancel()
        await asyncio.wait([holding])
    await database.lend()
    await database.take_back()
    assert database.is_idle


async def test_another_file_in_its_place_is_refused(database: Database, tmp_path: Path) -> None:
    await write(database, "A")
    other = tmp_path / "other.db"
    other.write_bytes(b"x" * 200)
    async with database.pinned() as held:
        state = StateBytes(other)
        with pytest.raises(StorageError, match="was replaced while it was copied"):
            state.begin(held.extent)
        state.close()


async def test_a_log_that_is_shorter_than_the_state_is_refused(database: Database) -> None:
    await write(database, "A")
    async with database.pinned() as held:
        state = StateBytes(held.path)
        longer = Extent(held.extent.file, held.extent.log_bytes + 4096 + 24)
        with pytest.raises(StorageError, match="changed while it was copied"):
            state.begin(longer)
        state.close()


async def test_a_log_that_is_cut_meanwhile_is_said(database: Database, tmp_path: Path) -> None:
    await write(database, "A", "B")
    async with database.pinned() as held:
        extent, log = held.extent, database.path.with_name("1.db-wal")
        whole = log.read_bytes()
        assert extent.log_bytes == len(whole) > 0
        for left in (0, 31, 40, len(whole) - 1):
            copied = tmp_path / f"cut-{left}"
            copied.mkdir()
            shutil.copy(database.path, copied / "1.db")
            (copied / "1.db-wal").write_bytes(whole[:left])
            with closing(StateBytes(copied / "1.db")) as state, pytest.raises(StorageError, match=r"1\.db-wal"):
                state.begin(extent._replace(file=found(copied / "1.db")))
                b"".join(state)


def found(path: Path) -> Identity:
    identity_of = identity(path)
    assert identity_of is not None
    return identity_of
