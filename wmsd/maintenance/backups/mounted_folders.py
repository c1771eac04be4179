"""Records which backup folders are on a separate disk, so that wmsd notices later if the disk is not mounted.

If the disk is not mounted, its mount point is an empty folder on another disk. A backup in this folder can fill
the disk of the data, and is lost together with the data.
"""

import os
from pathlib import Path
from typing import Final

from wmsd.base.machine.folder_lock import folder_lock
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.folder import BackupFolder

FILE: Final = "backup-folders.json"
MOST: Final = 100
NOT_THERE: Final = (
    "The backup disk is not mounted: earlier backups in {file} were on a disk mounted at {mount}, "
    "and no disk is mounted there now."
)
STAYING: Final = "If you no longer use that disk, name another folder in backup.folder."


class _Kept(StoredModel):
    """The recorded mount points, by backup folder. The last item is the newest."""

    mounts: dict[str, str] = {}


def check_mounted(data: Path, folder: BackupFolder) -> None:
    """Raise StorageError if the folder was on a separate disk that is not mounted now."""
    if mount := missing_mount(data, folder):
        raise StorageError(
            NOT_THERE.format(file=folder.path.resolve(), mount=mount)
            + f" No backup was created. Mount the disk and try again. {STAYING}"
        )


def missing_mount(data: Path, folder: BackupFolder) -> str | None:
    """Return the mount point of the folder's disk if the disk is not mounted now. Otherwise return None.

    Also return None if the folder contains archives. Without its disk, the folder would be empty, so a user must
    have moved the archives into it.
    """
    mount = _mounts(data).get(str(folder.path.resolve()))
    return None if mount is None or os.path.ismount(mount) or folder.archives() else mount


def note_mounted(data: Path, folder: BackupFolder) -> None:
    """Record the mount point of a backup folder. Call this function after each backup. Raise OSError if that
    fails.
    """
    place = folder.path.resolve()
    mount = _mount_of(place)
    own = None if mount == _mount_of(data.resolve()) else mount
    with folder_lock(data):  # backups into two folders may end at the same time
        mounts = _mounts(data)
        if mounts.pop(str(place), None) == own:
            return
        if own is not None:
            mounts[str(place)] = own
        write_json_file(data / FILE, _Kept(mounts=dict(list(mounts.items())[-MOST:])))


def _mounts(data: Path) -> dict[str, str]:
    return read_json_file(data / FILE, _Kept()).mounts


def _mount_of(place: Path) -> str:
    return str(next(each for each in (place, *place.parents) if os.path.ismount(each)))
