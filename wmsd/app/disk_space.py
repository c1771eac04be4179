"""Whether a disk has room for what is to be written."""

from pathlib import Path

from wmsd.app.disk_thresholds import disk_of
from wmsd.db.failures import StorageError


def check_room(folder: Path, needed: int) -> None:
    """Raises StorageError when the disk of the folder has no room for so many bytes."""
    disk = disk_of(folder)
    if disk.free < needed + disk.refused_below:
        raise StorageError(
            f"There is no room in {folder}: {(needed + disk.refused_below) // 1_000_000} MB are needed, and "
            f"{disk.free // 1_000_000} MB are free. Make room, and try again."
        )
