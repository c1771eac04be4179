"""A file that this process has alone is shared while it is lent, whatever goes on in it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import ROOT
from tests.support.world import World
from wmsd.db import migrations
from wmsd.db.company_files import CompanyFiles
from wmsd.db.migrations import FileKind
from wmsd.db.sqlite import sqlite3

LOOK = """
import sys
from pathlib import Path
from wmsd.db.sqlite import connect, sqlite3
try:
    connect(Path(sys.argv[1]), busy_seconds=0.5).execute("SELECT count(*) FROM articles")
    print("open")
except sqlite3.Error as error:
    print(error)
"""


def files_alone(world: World) -> CompanyFiles:
    """The same files, for a server that has them alone."""
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
    """Whoever opens it at that moment shares the log's index, and keeps it where it is found."""
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
