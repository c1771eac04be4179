"""Backups and restores on failing disks: strace injects the errors. The existing files stay unchanged, and the
failure is reported.
"""

import re
from pathlib import Path

import pytest

from tests.support.backups import manifest
from tests.support.command import ANY_PORT, Home, hashes
from tests.support.forked import Done
from tests.support.injected import injecting
from tests.support.survival import Drill, prepared


@pytest.fixture
def drill(home: Home) -> Drill:
    return prepared(home)


def run(home: Home, inject: str, *command: str | Path, path: Path | None = None) -> Done:
    """Run the command with failing system calls. If `path` is not None, only the calls about this file fail."""
    return home.run_fresh(*command, under=injecting(inject, path))


def archives(home: Home) -> list[str]:
    return sorted(path.name for path in (home.folder / "data-backups").glob("*.gz"))


@pytest.mark.parametrize("inject", ["fsync:error=EIO", "rename:error=EIO"])
def test_a_backup_that_does_not_reach_the_disk_is_none(drill: Drill, inject: str) -> None:
    done = run(drill.home, inject, "backup", "create")
    assert done.code == 1
    assert re.search(r"cannot be written: (input/output|disk I/O) error\.", done.err)
    assert archives(drill.home) == []
    assert [path.name for path in (drill.home.folder / "data-backups").iterdir()] == [".lock"]


def test_a_disk_that_is_not_mounted_gets_no_backup(drill: Drill) -> None:
    home, disk = drill.home, drill.home.folder / "disk"
    env = {"WMSD_BACKUP_FOLDER": str(disk / "backups"), **ANY_PORT}
    assert home.refused("backup", "create", env=env) == (
        f"The backup folder {disk}/backups cannot be created, because there is no folder {disk}. If that "
        "folder is on a separate disk, mount the disk; otherwise create the folder."
    )
    assert not disk.exists()
    assert home.run("config", "check", env=env).code == 1
    disk.mkdir()
    home.ok("backup", "create", env=env)
    home.ok("config", "check", env=env)
    assert list((disk / "backups").glob("wmsd-*.gz"))


def test_a_file_that_cannot_be_read_is_left_out(drill: Drill) -> None:
    file = drill.home.data / "companies" / "2.db"
    done = run(drill.home, "pread64:error=EIO", "backup", "create", path=file)
    assert done.code == 1
    assert "OTHER is not in the backup" in done.err
    [name] = archives(drill.home)
    said = manifest(drill.home.folder / "data-backups" / name)
    assert [file["code"] for file in said["files"]] == [None, "ACME"]


@pytest.mark.parametrize("inject", ["fsync:error=EIO:when=1", "fsync:error=ENOSPC:when=2", "mkdir:error=EROFS"])
def test_a_restore_that_cannot_unpack_changes_nothing(drill: Drill, inject: str) -> None:
    before = hashes(drill.home.data)
    done = run(drill.home, inject, "backup", "restore", "--yes", drill.archive)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert hashes(drill.home.data) == before
    assert drill.marks() == {1}


@pytest.mark.parametrize("number", range(2, 6))
def test_a_restore_that_is_cut_off_by_the_disk_goes_on_later(drill: Drill, number: int) -> None:
    """Each of the renames that put files in their places fails once. The first rename is that of the journal."""
    done = run(drill.home, f"rename:error=EIO:when={number}", "backup", "restore", "--yes", drill.archive)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "No data is lost: wmsd continues at the next start" in done.err
    assert drill.marks() == {0}
    assert list(drill.flaws()) == []
