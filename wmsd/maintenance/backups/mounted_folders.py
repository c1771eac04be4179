"""Remembers which folders of backups were on a disk of their own, so that a disk that is not mounted is noticed.

Where a disk is not mounted, its place is an empty folder of the disk below: a backup there would fill the disk of
the data, and help against nothing.
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
    "The disk of the backups is not there: earlier ones in {file} were on a disk mounted at {mount}, and none is "
    "mounted there now."
)
STAYING: Final = "If backups are to stay on this disk from now on, name another folder in backup.folder."


class _Kept(StoredModel):
    """By folder, the place where its disk was mounted: the last one last."""

    mounts: dict[str, str] = {}


def check_mounted(data: Path, folder: BackupFolder) -> None:
    """Raises StorageError when the folder was on a disk that is not there now."""
    if mount := missing_mount(data, folder):
        raise StorageError(
            NOT_THERE.format(file=folder.path.resolve(), mount=mount)
            + f" No backup was made. Mount it and try again. {STAYING}"
        )


def missing_mount(data: Path, folder: BackupFolder) -> str | None:
    """Where the disk of the folder was mounted, when it is not there now. A folder with archives is believed:
    somebody has put them there.
    """
    mount = _mounts(data).get(str(folder.path.resolve()))
    return None if mount is None or os.path.ismount(mount) or folder.archives() else mount


def note_mounted(data: Path, folder: BackupFolder) -> None:
    """Call it when a backup was made. Raises OSError."""
    place = folder.path.resolve()
    mount = _mount_of(place)
    own = None if mount == _mount_of(data.resolve()) else mount
    with folder_lock(data):  # backups into two folders may end at once
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
