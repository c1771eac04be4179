import os
from pathlib import Path

import pytest

from tests.support.privileges import AS_ROOT
from wmsd.host.one_file import STARTED, UNPACKED
from wmsd.host.one_file.leftovers import LONGEST_UNPACKING_SECONDS, remove_left
from wmsd.host.one_file.startup import hold


def unpacked(temporary: Path, name: str, *files: str, age: float = 0.0) -> Path:
    """Create a folder as the executable leaves it, with a library in a package."""
    folder = temporary / name
    (folder / "package").mkdir(parents=True)
    (folder / "package" / "library.so").write_bytes(b"library")
    for file in files:
        (folder / file).touch()
    folder.chmod(0o700)
    when = folder.stat().st_mtime - age
    os.utime(folder, (when, when))
    return folder


def test_a_folder_that_nobody_holds_is_removed(tmp_path: Path) -> None:
    left = unpacked(tmp_path, "_MEI1", UNPACKED, STARTED)
    assert (remove_left(tmp_path), left.exists()) == (1, False)
    assert remove_left(tmp_path) == 0


def test_a_folder_that_a_program_holds_stays(tmp_path: Path) -> None:
    used = unpacked(tmp_path, "_MEI1", UNPACKED)
    held = hold(str(used))
    assert held is not None
    assert (remove_left(tmp_path), used.is_dir()) == (0, True)
    os.close(held)
    assert (remove_left(tmp_path), used.exists()) == (1, False)


def test_a_folder_that_may_be_being_unpacked_stays(tmp_path: Path) -> None:
    begun = unpacked(tmp_path, "_MEI1", UNPACKED)
    broken_off = unpacked(tmp_path, "_MEI2", UNPACKED, age=LONGEST_UNPACKING_SECONDS + 1)
    assert remove_left(tmp_path) == 1
    assert (begun.is_dir(), broken_off.exists()) == (True, False)


@pytest.mark.parametrize(("name", "files"), [("_MEI1", (STARTED,)), ("other", (UNPACKED, STARTED))])
def test_folders_of_other_programs_stay(name: str, files: tuple[str, ...], tmp_path: Path) -> None:
    others = unpacked(tmp_path, name, *files, age=1_000_000.0)
    assert (remove_left(tmp_path), others.is_dir()) == (0, True)


def test_what_others_may_have_written_stays(tmp_path: Path) -> None:
    open_to_all = unpacked(tmp_path, "_MEI1", UNPACKED, STARTED)
    open_to_all.chmod(0o770)
    elsewhere = unpacked(tmp_path / "elsewhere", "mine", UNPACKED, STARTED)
    link = tmp_path / "_MEI2"
    link.symlink_to(elsewhere)
    (tmp_path / "_MEI3").write_text("a file")
    assert remove_left(tmp_path) == 0
    assert open_to_all.is_dir()
    assert (elsewhere / "package" / "library.so").exists()
    assert link.is_symlink()


@AS_ROOT
def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    others = unpacked(tmp_path, "_MEI1", UNPACKED, STARTED)
    os.chown(others, 65534, 65534)
    assert (remove_left(tmp_path), others.is_dir()) == (0, True)


def test_what_a_link_in_a_folder_leads_to_stays(tmp_path: Path) -> None:
    left = unpacked(tmp_path, "_MEI1", UNPACKED, STARTED)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "data").write_text("1")
    (left / "link").symlink_to(precious)
    assert remove_left(tmp_path) == 1
    assert (precious / "data").read_text() == "1"


def test_a_folder_without_room_or_locks_is_not_held(tmp_path: Path) -> None:
    assert hold(str(tmp_path / "gone")) is None
