"""Whether a disk has room for what is to be written."""

from pathlib import Path

from wmsd.base.machine.disk import disk_of
from wmsd.db.engine.failures import StorageError


def check_room(folder: Path, needed: int, archive: Path | None = None) -> None:
    """Raises StorageError when the disk of the folder has no room for so many bytes, of this archive."""
    disk = disk_of(folder)
    if disk.free < needed + disk.refused_below:
        of_it = "" if archive is None else f" for what {archive} unpacks to"
        raise StorageError(
            f"There is no room in {folder}{of_it}: {(needed + disk.refused_below) // 1_000_000} MB are needed, "
            f"and {disk.free // 1_000_000} MB are free. Make room, and try again."
        )
