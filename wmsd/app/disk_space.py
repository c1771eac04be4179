"""Whether a disk has room for what is to be written."""

import shutil
from pathlib import Path

from wmsd.app.data_folder import LEAST_FREE_BYTES
from wmsd.db.failures import StorageError


def check_room(folder: Path, needed: int) -> None:
    """Raises StorageError when the disk of the folder has no room for so many bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed + LEAST_FREE_BYTES:
        raise StorageError(
            f"There is no room in {folder}: {(needed + LEAST_FREE_BYTES) // 1_000_000} MB are needed, and "
            f"{free // 1_000_000} MB are free. Make room, and try again."
        )
