"""The folders of backups that were on a separate disk."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups import mounted_folders
from wmsd.maintenance.backups.folder import BackupFolder


def test_backups_into_two_folders_at_once_are_both_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the backups reads the file of noted folders, and rewrites it completely."""
    data, disks = tmp_path / "data", [tmp_path / "disk-1", tmp_path / "disk-2"]
    for folder in (data, *disks):
        folder.mkdir()
    both_read, read = threading.Barrier(2), mounted_folders._mounts

    def mounts(data: Path) -> dict[str, str]:
        found = read(data)
        with suppress(threading.BrokenBarrierError):
            both_read.wait(0.5)
        return found

    monkeypatch.setattr(mounted_folders, "_mount_of", str)
    monkeypatch.setattr(mounted_folders, "_mounts", mounts)
    with ThreadPoolExecutor(2) as threads:
        noted = [threads.submit(mounted_folders.note_mounted, data, BackupFolder(disk)) for disk in disks]
    assert [each.result() for each in noted] == [None, None]
    for disk in disks:
        with pytest.raises(StorageError, match=f"earlier backups in {disk} were on a disk mounted at {disk}"):
            mounted_folders.check_mounted(data, BackupFolder(disk))
