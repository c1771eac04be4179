"""A check whether a disk has enough space for a write."""

from pathlib import Path

from wmsd.base.machine.disk import disk_of
from wmsd.db.engine.failures import StorageError


def check_space(folder: Path, needed: int, archive: Path | None = None) -> None:
    """Raise StorageError if the disk of the folder has too little free space for `needed` bytes.

    If the space is needed to unpack an archive, pass it as `archive`. The error then names it.
    """
    disk = disk_of(folder)
    if disk.free < needed + disk.refused_below:
        of_it = "" if archive is None else f" to unpack {archive}"
        raise StorageError(
            f"There is not enough space in {folder}{of_it}: {(needed + disk.refused_below) // 1_000_000} MB "
            f"are needed, and {disk.free // 1_000_000} MB are free. Free some space, and try again."
        )
