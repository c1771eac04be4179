"""Tests of lending: a file that only this process uses is shared while it is lent, whatever happens in it."""

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.db.test_unit_of_work import ADD
from tests.support.forked import ROOT
from tests.support.world import World
from wmsd.db import migrations
from wmsd.db.engine import file_connections
from wmsd.db.engine.failures import FileMoved, StorageError
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_file import CompanyFile
from wmsd.db.files.company_files import CompanyFiles
from wmsd.db.migrations import FileKind

LOOK = """
import sys
from pathlib import Path
from wmsd.db.engine.sqlite import connect, sqlite3
try:
    connect(Path(sys.argv[1]), busy_seconds=0.5).execute("SELECT count(*) FROM articles")
    print("open")
except sqlite3.Error as error:
    print(error)
"""


def files_alone(world: World) -> CompanyFiles:
    """Return the same files, for a server that opens them exclusively."""
    files = world.installation.files
    clock, ids = world.installation.clock, world.installation.ids
    return CompanyFiles(files.folder, clock, ids, {}, installation=files.installation, alone=True)


async def seen_by_another_process(file: Path) -> str:
    command = [sys.executable, "-c", LOOK, str(file)]
    done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


async def test_a_loan_while_reads_and_writes_go_on(world: World) -> None:
    files = files_alone(world)
    path, is_over = files.path(world.company), False

    async def work() -> int:
        count = 0
        while not is_over:
            database = await files.get(world.company)
            await database.read(lambda tx: tx.value("SELECT count(*) FROM articles"))
            await database.write(lambda tx: tx.execute("UPDATE articles SET name = name"))
            count += 1
        return count

    await (await world.database()).close()
    workers = [asyncio.ensure_future(work()) for _ in range(8)]
    file = files.file(world.company)
    for _ in range(5):
        await asyncio.sleep(0.05)
        assert await seen_by_another_process(path) == "database is locked"
        await file.lend()
        await file.lend()
        assert await seen_by_another_process(path) == "open"
        await file.take_back()
        assert await seen_by_another_process(path) == "open"
        await file.take_back()
    is_over = True
    assert min(await asyncio.gather(*workers)) > 0
    await files.close()


async def test_it_is_alone_from_its_first_look_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is used exclusively from the first check on.

    A process that opened the file at that moment would share the log's index.
    """
    files = files_alone(world)
    index = files.path(world.company).with_name(f"{world.company}.db-shm")
    check, was_shared = migrations._check_kind, []

    def looked(connection: sqlite3.Connection, path: Path, kind: FileKind) -> None:
        check(connection, path, kind)
        was_shared.append(index.exists())

    await (await world.database()).close()
    monkeypatch.setattr(migrations, "_check_kind", looked)
    await files.get(world.company)
    assert was_shared == [False]
    await files.close()

    files = files_alone(world)
    await files.file(world.company).lend()
    await files.get(world.company)
    assert was_shared == [False, True]
    await files.close()


async def add(files: CompanyFiles, company_id: int, code: str) -> None:
    database = await files.get(company_id)
    await database.write(lambda tx: tx.execute(ADD, (code,)))


async def write_as_a_borrower(file: CompanyFile) -> None:
    await file.lend()
    with closing(connect(file.path)) as borrowed:
        borrowed.execute(ADD, ("BORROWED",))
    await file.take_back()


async def test_its_own_log_that_lending_writes_back_is_no_write_of_others(world: World) -> None:
    """The log that lending itself writes back does not count as a write of others.

    The last connection that closes writes the log into the file. At that time no part of wmsd has the file open.
    """
    files = files_alone(world)
    await (await world.database()).close()
    file = files.file(world.company)
    async with files.visiting(world.company):
        await add(files, world.company, "A")
        await file.lend()
    files.notice_moved()
    assert codes_in(files.path(world.company)) == ["A"]
    await file.take_back()
    await add(files, world.company, "B")
    assert file.failure is None
    await files.close()


def codes_in(path: Path) -> list[str]:
    with closing(connect(path)) as connection:
        return [code for (code,) in connection.execute("SELECT code FROM clients ORDER BY code")]


def replaced_slowly(path: Path, began: threading.Event) -> Callable[[], None]:
    """Return a function that slowly replaces the file by a copy."""

    def put() -> None:
        copy = path.with_name("copy.db")
        shutil.copy(path, copy)
        began.set()
        time.sleep(0.3)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.rename(path.with_name("before.db"))
        copy.rename(path)

    return put


async def test_what_a_borrower_writes_is_in_the_file_that_is_served(world: World) -> None:
    """A borrower writes to the file that is served.

    The borrower waits while another file takes the place of the requested one.
    """
    files = files_alone(world)
    path, began = files.path(world.company), threading.Event()
    await (await world.database()).close()
    file = files.file(world.company)
    await add(files, world.company, "BEFORE")
    replacing = asyncio.ensure_future(file.replace(replaced_slowly(path, began)))
    await asyncio.to_thread(began.wait)
    lending = asyncio.ensure_future(file.lend())
    await asyncio.wait([replacing, lending])
    assert isinstance(replacing.exception(), StorageError) or lending.done()
    with closing(connect(path)) as connection:
        connection.execute("UPDATE clients SET code = 'BORROWED'")
    await file.take_back()
    database = await files.get(world.company)
    assert await database.read(lambda tx: tx.rows("SELECT code FROM clients")) == [("BORROWED",)]
    await files.close()


async def test_requests_wait_while_a_failed_file_is_replaced(world: World) -> None:
    files = files_alone(world)
    path, began = files.path(world.company), threading.Event()
    await (await world.database()).close()
    await add(files, world.company, "BEFORE")
    database = await files.get(world.company)
    slow = asyncio.ensure_future(database.write(lambda tx: time.sleep(0.2)))
    await asyncio.sleep(0.05)
    files.suspect(world.company, StorageError("it failed"))
    asking = [asyncio.ensure_future(add(files, world.company, f"MEANWHILE-{number}")) for number in range(3)]
    replacing = asyncio.ensure_future(files.file(world.company).replace(replaced_slowly(path, began)))
    await asyncio.sleep(0)
    asking += [asyncio.ensure_future(add(files, world.company, f"LATER-{number}")) for number in range(3)]
    await asyncio.wait([slow, replacing, *asking])
    assert replacing.exception() is None
    await add(files, world.company, "AFTER")
    acknowledged = [name for name, each in zip(NAMES, asking, strict=True) if each.exception() is None]
    await files.close()
    assert set(acknowledged) <= {*codes_in(path), *codes_in(path.with_name("before.db"))}
    assert "AFTER" in codes_in(path)


NAMES = [f"{when}-{number}" for when in ("MEANWHILE", "LATER") for number in range(3)]


async def test_each_borrower_is_told_when_it_has_the_file(world: World) -> None:
    files = files_alone(world)
    path = files.path(world.company)
    await (await world.database()).close()
    database = await files.get(world.company)
    file = files.file(world.company)
    async with database.pinned():
        lending = [asyncio.ensure_future(file.lend()) for _ in range(2)]
        await asyncio.sleep(0.2)
        assert [each.done() for each in lending] == [False, False]
    await asyncio.wait(lending)
    assert await seen_by_another_process(path) == "open"
    await file.take_back()
    await file.take_back()
    await add(files, world.company, "A")
    assert await seen_by_another_process(path) == "database is locked"
    await files.close()


async def test_an_opening_that_nobody_waits_for_is_over_before_its_file_is_lent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client disconnects while a connection for its search is being opened."""
    files = files_alone(world)
    path, file = files.path(world.company), files.file(world.company)
    await (await world.database()).close()
    database = await files.get(world.company)
    is_opening, may_open = threading.Event(), threading.Event()

    def slow(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **named)
        is_opening.set()
        may_open.wait()
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(file_connections, "connect", slow)
        searching = asyncio.ensure_future(database.search(lambda tx: tx.value("SELECT 1")))
        await asyncio.to_thread(is_opening.wait)
    for _ in range(3):  # as a client that disconnects, and a server that stops
        searching.cancel()
        await asyncio.sleep(0)

    async def lend_and_use() -> None:
        await file.lend()
        await files.get(world.company)

    lending = asyncio.ensure_future(lend_and_use())
    await asyncio.wait([lending], timeout=0.2)
    may_open.set()
    with pytest.raises(asyncio.CancelledError):
        await searching
    await lending
    assert await seen_by_another_process(path) == "open"
    await file.take_back()
    await files.close()


async def test_a_look_at_every_file_is_over_before_one_is_lent(world: World) -> None:
    files = files_alone(world)
    path, looks = files.path(world.company), threading.Event()
    await (await world.database()).close()

    def look(tx: Transaction) -> int:
        looks.set()
        time.sleep(0.3)
        return 1

    looking = asyncio.ensure_future(files.read_each([world.company], look))
    await asyncio.to_thread(looks.wait)
    await files.file(world.company).lend()
    await files.get(world.company)
    assert await seen_by_another_process(path) == "open"
    assert await looking == {world.company: 1}
    await files.file(world.company).take_back()
    await files.close()


async def test_a_look_at_every_file_waits_until_one_is_lent(world: World) -> None:
    """A check of every file waits until a file is lent.

    A visitor that opens the file while it is closed would keep it locked as long as this process has it open.
    """
    files = files_alone(world)
    path, file = files.path(world.company), files.file(world.company)
    await (await world.database()).close()
    database = await files.get(world.company)
    may_end, may_leave = threading.Event(), threading.Event()

    def write(tx: Transaction) -> None:
        tx.execute("UPDATE articles SET name = name")
        may_end.wait()

    def stay(tx: Transaction) -> int:
        may_leave.wait()
        return int(tx.value("SELECT count(*) FROM articles"))

    writing = asyncio.ensure_future(database.write(write))
    lending = asyncio.ensure_future(file.lend())
    await asyncio.sleep(0.05)
    looking = asyncio.ensure_future(files.read_each([world.company], stay))
    await asyncio.sleep(0.2)
    may_end.set()
    await asyncio.gather(writing, lending)
    await database.write(lambda tx: tx.execute("UPDATE articles SET name = name"))
    may_leave.set()
    assert await looking
    assert await seen_by_another_process(path) == "open"
    await file.take_back()
    await files.close()


async def test_who_holds_a_database_that_is_not_used_any_more_keeps_no_borrower_out(world: World) -> None:
    """After another process has written a closed file, it gets a new `Database`.

    The former one may not open the file again, because lending would not know of its connections.
    """
    files = files_alone(world)
    path, file = files.path(world.company), files.file(world.company)
    await (await world.database()).close()
    former = await files.get(world.company)
    await former.close()
    await write_as_a_borrower(file)
    assert await files.get(world.company) is not former
    with pytest.raises(FileMoved):
        await former.search(lambda tx: tx.value("SELECT 1"))
    await file.lend()
    await files.get(world.company)
    assert await seen_by_another_process(path) == "open"
    await file.take_back()
    await files.close()


async def test_who_waits_for_a_free_connection_gets_the_database_that_is_used_now(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command writes a closed file while a request waits until the limits allow to open it."""
    files = files_alone(world)
    file = files.file(world.company)
    await (await world.database()).close()
    former = await files.get(world.company)
    await former.close()
    is_free, wait = asyncio.Event(), files.open._await_connection

    async def wait_longer() -> None:
        await is_free.wait()
        await wait()

    with monkeypatch.context() as patch:
        patch.setattr(files.open, "_await_connection", wait_longer)
        waiting = asyncio.ensure_future(files.get(world.company))
        await asyncio.sleep(0.01)
    await write_as_a_borrower(file)
    database = await files.get(world.company)
    is_free.set()
    assert await waiting is database
    assert database is not former
    await files.close()
