"""The check whether a server could use a data folder, or create a missing one. Nothing is written."""

import errno
import os
from pathlib import Path

from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.messages import check_folder, refuse_others
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.newest_backup import BackupsIn, brings_data_back


def check_usable(folder: DataFolder, backups: Path) -> None:
    """Check that a server can start in the folder without `--create`. Raise StorageError if it cannot."""
    if folder.is_made:
        there = folder.path
        places = (each for each in (there, folder.platform_file) if each.exists())
        if refused := next(filter(None, map(_refused, places)), None):
            refuse_others(folder.path, refused)
            raise StorageError(f"The data folder {folder.path} cannot be written: {reason_of(refused)}.")
    else:
        check_folder(folder.path)
        folder.check_platform(BackupsIn(backups))
        check_new(folder, backups)
        place = folder.path.absolute()
        there = next(each for each in (place, *place.parents) if each.exists())
        if refused := _refused(there):
            refuse_others(folder.path, refused)
            raise StorageError(f"The data folder {folder.path} cannot be created: {reason_of(refused)}.")
        folder.check_space(there)


def check_new(folder: DataFolder, backups: Path) -> None:
    """Raise StorageError if a missing data folder must not be created, because its data may be lost. This is so if
    the folder above it is missing, or if backups of it exist.
    """
    data = folder.path.resolve()
    if not folder.path.absolute().parent.exists():  # an unmounted disk looks like lost data
        raise StorageError(
            f"There is no folder {data.parent} for the data folder {data.name}. Nothing was created. If that "
            "folder is on a separate disk, mount the disk. To create both folders, start with --create."
        )
    check_not_lost(folder, backups)


def check_not_lost(folder: DataFolder, backups: Path) -> None:
    """Raise StorageError if the data folder is missing but backups of it exist. An existing empty folder is
    accepted, because `wmsd service install` creates one.
    """
    if not folder.path.exists() and (back := brings_data_back(folder.path, backups)):
        raise StorageError(
            f"The data folder {folder.path.resolve()} is missing. Nothing was created. {back} To start with "
            "no data: wmsd serve --create"
        )


def _refused(place: Path) -> OSError | None:
    """Return the error that prevents this user from writing to the file or folder, or None."""
    if os.access(place, os.W_OK | (os.X_OK if place.is_dir() else os.R_OK)):
        return None
    number = errno.EROFS if os.statvfs(place).f_flag & os.ST_RDONLY else errno.EACCES
    return OSError(number, os.strerror(number))  # Python chooses a subclass, such as PermissionError
