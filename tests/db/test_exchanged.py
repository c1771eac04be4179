"""Tests of a file that a user put next to the log of another file. wmsd distinguishes it from the file that it was
using when it was killed.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.db.killed_writer import WIDE
from tests.db.one_connection import Scene, add
from tests.db.test_unit_of_work import ADD, CODES
from tests.db.test_write_ahead_log import fill
from tests.support.forked import ROOT
from wmsd.db.engine.snapshots import hold_snapshot
from wmsd.db.engine.sqlite import connect, log_bytes, sqlite3
from wmsd.db.engine.state_bytes import StateBytes
from wmsd.db.engine.write_ahead_log import Exchanged, WrongLog, check_log
from wmsd.db.migrations import COMPANY, create_file

KILLS = 10
Reader = sqlite3.Connection | None
Put = Callable[[Path, Path], object]


def put_over(copy: Path, path: Path) -> None:
    shutil.copyfile(copy, path)


def put_in_place(copy: Path, path: Path) -> None:
    shutil.copy2(copy, fresh := path.with_name("fresh"))
    fresh.rename(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_file(tmp_path / "1.db", COMPANY)
    return tmp_path / "1.db"


def killed(path: Path, seed: str, mode: str, until: Callable[[int], bool]) -> list[str]:
    """Run a writer and kill it when `until` accepts the number of its commits.

    Return the last code of each commit.
    """
    command = [sys.executable, "-P", "-m", "tests.db.killed_writer", str(path), seed, mode]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told.append(line.strip())
            if until(len(told)):
                break
        process.kill()
        told += [line.strip() for line in process.stdout if line.endswith("\n")]
    assert told, "it never wrote"
    return told


def codes(path: Path, is_left_as_it_is: bool = True) -> set[str]:
    with closing(connect(path, read_only=is_left_as_it_is)) as connection:
        return {code.removesuffix(f"-{WIDE}") for (code,) in connection.execute(CODES)}


@pytest.mark.parametrize("mode", ["alone", "shared"])
def test_after_a_kill_at_any_moment_the_log_is_replayed(path: Path, mode: str) -> None:
    """After a kill at any moment the log is replayed.

    Everything committed is there, also if the writer or another program was just writing the log back.
    """
    chance, committed, logs = random.Random(7), set[str](), 0
    for number in range(KILLS):
        reader = None
        if mode == "shared" and chance.random() < 0.5:
            # the reader prevents the log from being written back as a whole, then writes it back itself
            reader = connect(path)
            reader.execute("BEGIN")
            reader.execute(CODES).fetchone()

        def until(commits: int, at: int = chance.randint(1, 160), other: Reader = reader) -> bool:
            if other is not None and commits % 40 == 39 and commits < at:
                if other.in_transaction:
                    other.execute("COMMIT")
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")
                other.execute("BEGIN")
                other.execute(CODES).fetchone()
            return commits >= at

        committed |= set(killed(path, str(number), mode, until))
        logs += log_bytes(path) > 0
        check_log(path)
        assert committed <= codes(path, is_left_as_it_is=chance.random() < 0.5)
    assert logs > KILLS / 2


@pytest.mark.parametrize("put", [put_over, put_in_place])
def test_a_copy_of_the_stopped_file_is_not_undone(path: Path, tmp_path: Path, put: Put) -> None:
    with closing(connect(path)) as connection:
        connection.execute(ADD, ("before",))
    copy = Path(shutil.copy2(path, tmp_path / "copy.db"))
    killed(path, "after", "alone", lambda commits: commits >= 3)
    check_log(path)
    put(copy, path)
    log = path.with_name("1.db-wal")
    as_left = path.read_bytes(), log.read_bytes()
    with pytest.raises(Exchanged, match=r"1\.db was copied there, or written by another program"):
        check_log(path)
    assert (path.read_bytes(), log.read_bytes()) == as_left


def test_both_ways_on_that_are_named_work(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy2(path, tmp_path / "copy.db"))
    told = killed(path, "after", "alone", lambda commits: commits >= 3)
    put_over(copy, path)
    log = path.with_name("1.db-wal")
    log.rename(kept := tmp_path / "kept")
    check_log(path)
    assert codes(path) == set()
    path.with_name("1.db-shm").unlink(missing_ok=True)
    shutil.copy(kept, log)
    check_log(path)
    assert set(told) <= codes(path)


def test_what_changes_no_content_is_no_exchange(path: Path, tmp_path: Path) -> None:
    told = killed(path, "after", "alone", lambda commits: commits >= 3)
    path.chmod(0o640)
    os.link(path, tmp_path / "link")
    check_log(path)
    (tmp_path / "link").unlink()
    moved = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-moved"))
    check_log(moved / "1.db")
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-copied")
    shutil.copytree(moved, elsewhere)
    check_log(elsewhere / "1.db")
    assert set(told) <= codes(elsewhere / "1.db")


async def test_a_state_of_the_log_before_is_no_state_of_the_log(tmp_path: Path) -> None:
    """A copy of the file from before a log does not belong to that log, although the log knows its name.

    Another program made the copy by SQLite's own means.
    """
    scene = Scene(tmp_path / "1.db")
    scene.write(add("a"))
    with closing(connect(scene.path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as target:
        source.backup(target)
    fill(scene, "b")
    scene.write(add("c"))
    log = scene.path.with_name("1.db-wal")
    content, inode = log.read_bytes(), log.stat().st_ino
    os.link(log, tmp_path / "log")
    scene.connection.close()
    assert not log_bytes(scene.path)
    (tmp_path / "log").write_bytes(content)
    (tmp_path / "log").rename(log)
    assert log.stat().st_ino == inode, "as a kill leaves it"
    put_over(tmp_path / "copy.db", scene.path)
    with pytest.raises(Exchanged):
        check_log(scene.path)


def copied(path: Path, copy: Path) -> Path:
    """Copy a file as a backup does."""
    with closing(StateBytes(path)) as content, closing(hold_snapshot(path)) as state:
        content.begin(state.extent)
        copy.write_bytes(b"".join(content))
    return copy


async def test_a_copy_of_wmsd_belongs_to_no_log(tmp_path: Path) -> None:
    """A copy that wmsd makes belongs to no log: neither to the log of its time nor to a later one.

    This holds even among the files of a copied folder.
    """
    scene = Scene(tmp_path / "1.db")
    scene.write(add("a"))
    copy = copied(scene.path, tmp_path / "copy.db")
    with closing(connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert [code for (code,) in connection.execute(CODES)] == ["a"]
    (left := tmp_path / "left").mkdir()
    for later in ("b", "c", "d"):
        scene.write(add(later))
        shutil.copy(scene.path, left / "1.db")
        shutil.copy(f"{scene.path}-wal", left / "1.db-wal")
        check_log(left / "1.db")
        shutil.copy(copy, left / "1.db")
        with pytest.raises(WrongLog):
            check_log(left / "1.db")
        fill(scene, later)
