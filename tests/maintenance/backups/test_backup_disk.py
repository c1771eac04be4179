"""`wmsd backup create` and the disk of the backups: a different disk, a missing disk, and a full disk."""

import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command import ANY_PORT, Home, first_day
from tests.support.small_disk import fill, small_disk_at
from wmsd.db.engine.sqlite import connect

SAME_DISK = "is on the same disk as the data: if the disk fails, both are lost."


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def test_on_a_disk_of_its_own_nothing_is_warned_of(installation: Home, tmp_path: Path) -> None:
    assert SAME_DISK in installation.ok("backup", "create").err
    with small_disk_at(tmp_path / "disk") as disk:
        done = installation.ok("backup", "create", "--folder", disk)
        assert SAME_DISK not in done.err


def test_a_backup_stands_although_its_disk_cannot_be_noted(installation: Home, tmp_path: Path) -> None:
    (installation.data / "backup-folders.json.new").mkdir()
    with small_disk_at(tmp_path / "disk") as disk:
        done = installation.ok("backup", "create", "--folder", disk)
        assert "the backup was created, but the mount point of its disk could not be recorded: " in done.err
        assert len(list(disk.glob("*.tar*"))) == 1, list(disk.iterdir())


def test_a_disk_that_is_not_mounted_is_not_replaced_by_a_folder(installation: Home, tmp_path: Path) -> None:
    place = tmp_path / "disk"
    with small_disk_at(place):
        installation.ok("backup", "create", "--folder", place / "wmsd")
    sentence = installation.refused("backup", "create", "--folder", place / "wmsd")
    assert sentence.startswith(
        f"The backup disk is not mounted: earlier backups in {place}/wmsd were on a disk mounted at "
        f"{place}, and no disk is mounted there now. No backup was created."
    )
    settings = {"WMSD_BACKUP_FOLDER": str(place / "wmsd"), **ANY_PORT}
    for command in (("config", "check"), ("doctor",)):
        done = installation.run(*command, env=settings)
        assert done.code == 1
        assert (
            f"Error: The backup disk is not mounted: earlier backups in {place}/wmsd were on a disk mounted "
            f"at {place}, and no disk is mounted there now.\n  Mount the disk: wmsd creates no backup until "
            "then. "
        ) in done.err + done.out
    assert list(place.iterdir()) == []
    place.rmdir()
    with small_disk_at(place):
        installation.ok("config", "check", env=settings)
        installation.ok("backup", "create", "--folder", place / "wmsd")


def test_a_folder_with_archives_is_believed_on_whatever_disk_it_is(installation: Home, tmp_path: Path) -> None:
    place = tmp_path / "disk"
    with small_disk_at(place) as disk:
        name = installation.folder / installation.ok("backup", "create", "--folder", disk, "--json").json["backup"]
        shutil.copy(name, tmp_path)
    shutil.copy(tmp_path / name.name, place)
    time.sleep(1)  # archive names have a resolution of one second
    assert SAME_DISK in installation.ok("backup", "create", "--folder", place).err
    shutil.rmtree(place)
    time.sleep(1)
    installation.ok("backup", "create", "--folder", place)


def test_what_cannot_be_compressed_is_seen_before_the_first_backup(installation: Home, tmp_path: Path) -> None:
    path = installation.data / "companies" / "1.db"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE noise (bytes BLOB)")
        connection.execute("INSERT INTO noise VALUES (randomblob(20000000))")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with small_disk_at(tmp_path / "disk") as disk:
        fill(disk, leave=15_000_000)
        sentence = installation.refused("backup", "create", "--folder", disk)
        assert sentence.startswith(f"There is not enough space for a backup in {disk}: the backup needs about 2")


def test_the_log_of_a_file_is_not_counted_again(installation: Home, tmp_path: Path) -> None:
    """The write-ahead logs of small companies are larger than their files."""
    with small_disk_at(tmp_path / "disk") as disk:
        fill(disk, leave=1_000_000)
        log = installation.data / "companies" / "1.db-wal"
        with installation.serving(), log.open("ab") as opened:
            opened.truncate(8_000_000)
            installation.ok("backup", "create", "--folder", disk)


def test_a_full_disk_is_seen_before(installation: Home, tmp_path: Path) -> None:
    with small_disk_at(tmp_path / "disk") as disk:
        fill(disk, leave=20_000)
        sentence = installation.refused("backup", "create", "--folder", disk)
        assert sentence.startswith(f"There is not enough space for a backup in {disk}: the backup needs about")
        assert sorted(path.name for path in disk.iterdir()) == [".lock", "other"]


EARLIER = "wmsd-2026-01-01T000000Z.tar.gz"
"""The name of an earlier archive. The next backup must not be made in the same second."""


def test_a_disk_that_becomes_full_leaves_nothing(installation: Home, tmp_path: Path) -> None:
    """Data that cannot be compressed take more space than the size of the previous archive suggests."""
    path = installation.data / "companies" / "1.db"
    earlier = installation.folder / installation.ok("backup", "create", "--json").json["backup"]
    connection = connect(path)
    connection.execute("CREATE TABLE noise (bytes BLOB)")
    connection.execute("INSERT INTO noise VALUES (randomblob(20000000))")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with small_disk_at(tmp_path / "disk") as disk:
        shutil.copy(earlier, disk / EARLIER)
        fill(disk, leave=15_000_000)
        sentence = installation.refused("backup", "create", "--folder", disk)
        assert sentence.endswith("cannot be written: no space left on device. No backup was created.")
        assert sorted(path.name for path in disk.iterdir()) == [".lock", "other", EARLIER]
