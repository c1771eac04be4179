"""What root makes beside a service of another user is to be that user's."""

import os
from contextlib import suppress
from pathlib import Path


def give_to_owner_of(folder: Path, path: Path) -> None:
    """Only root can do this, and nobody else needs it."""
    owner = folder.stat()
    with suppress(PermissionError):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def make_folders(folder: Path, mode: int = 0o777) -> None:
    """Makes the folder and those above it that are missing, each for the owner of the one that it is in.
    `mode`: of the folder itself. Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in reversed(missing):
        give_to_owner_of(each.parent, each)
