"""Tests of a log and its file: they identify each other, however a log begins, is written back, and is cut."""

import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from tests.db.one_connection import Scene, add
from tests.db.test_unit_of_work import CODES
from wmsd.db.engine.failures import FileOverwritten, StorageError
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.write_ahead_log import LOOK, MOST_FRAMES, WrongLog, check_log

NAMES = "SELECT id, previous FROM log"
WIDE = "x" * 3000


def names(scene: Scene) -> tuple[int, int]:
    found: tuple[int, int] = scene.connection.execute(NAMES).fetchone()
    return found


def frames(scene: Scene) -> tuple[int, int]:
    """Return the number of frames in the log, and how many of them are in the file."""
    _, in_log, in_file = scene.connection.execute(LOOK).fetchone()
    return in_log, in_file


def fill(scene: Scene, prefix: str) -> None:
    """Write until the log is written back."""
    for number in range(MOST_FRAMES):
        scene.write(add(f"{prefix}{number}-{WIDE}"))
        if frames(scene)[0] >= MOST_FRAMES:
            return
    raise AssertionError("the log never became long")


async def test_each_new_log_has_a_name_and_that_of_the_log_before(scene: Scene) -> None:
    scene.write(add("a"))
    first = names(scene)
    scene.write(add("b"))
    assert names(scene) == first
    fill(scene, "c")
    assert frames(scene)[0] == frames(scene)[1], "all of it is in the file"
    assert names(scene) == first
    scene.write(add("d"))
    second, previous = names(scene)
    assert (previous, second) == (first[0], second)
    assert second != first[0]
    assert frames(scene)[0] < MOST_FRAMES, "a new log has begun"


async def test_a_reader_keeps_the_log_and_its_name(scene: Scene) -> None:
    scene.write(add("a"))
    first = names(scene)
    with closing(connect(scene.path, read_only=True)) as reader:
        reader.execute("BEGIN")
        reader.execute(NAMES).fetchone()
        scene.write(add("b"))
        fill(scene, "c")
        assert frames(scene)[1] < frames(scene)[0], "what the reader does not see stays in the log"
        scene.write(add("d"))
        assert names(scene) == first


async def test_a_file_is_accepted_after_a_crash_at_any_moment(scene: Scene, tmp_path: Path) -> None:
    """A file is accepted after a crash at any moment.

    A copy of file and log between two commits is what a power failure leaves.
    """
    chance = random.Random(1)
    left = tmp_path / "left.db"
    for number in range(400):
        scene.write(*(add(f"{number}-{each}-{WIDE}") for each in range(chance.randint(1, 40))))
        if chance.random() < 0.2:
            shutil.copy(scene.path, left)
            shutil.copy(f"{scene.path}-wal", f"{left}-wal")
            check_log(left)


async def test_an_older_file_is_refused_beside_a_newer_log(scene: Scene, tmp_path: Path) -> None:
    old = shutil.copy(scene.path, tmp_path / "old.db")
    for prefix in "abc":
        fill(scene, prefix)
    scene.write(add("d"))
    scene.write(add("e"))
    left = tmp_path / "left.db"
    shutil.copy(f"{scene.path}-wal", f"{left}-wal")
    shutil.copy(old, left)
    with pytest.raises(WrongLog, match=r"left\.db and its log left\.db-wal do not belong together"):
        check_log(left)
    shutil.copy(scene.path, left)
    check_log(left)


async def test_a_file_of_the_same_log_is_as_good_as_the_one_that_was_there(scene: Scene, tmp_path: Path) -> None:
    """An older file of the same log is as good as the current file, because the log has all later changes."""
    scene.write(add("a"))
    early = shutil.copy(scene.path, tmp_path / "early.db")
    scene.write(add("b"))
    left = tmp_path / "left.db"
    shutil.copy(early, left)
    shutil.copy(f"{scene.path}-wal", f"{left}-wal")
    check_log(left)
    with closing(connect(left)) as connection:
        assert [code for (code,) in connection.execute(CODES)] == ["a", "b"]


def test_what_cannot_be_read_is_left_to_other_checks(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    path.write_bytes(b"no database" * 500)
    Path(f"{path}-wal").write_bytes(b"no log" * 500)
    check_log(path)
    path.unlink()
    check_log(path)


async def test_a_file_that_others_write_is_noticed_before_it_is_used(scene: Scene) -> None:
    scene.standing.begin(alone=True)
    scene.write(add("a"))
    fill(scene, "b")
    scene.write(add("c"))
    with scene.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\0")
    with pytest.raises(FileOverwritten):
        scene.standing.check_file()
    with pytest.raises(StorageError):
        scene.write(add("never"))
    assert "never" not in scene.codes
