"""Files that only their owner can read. If root creates a file for a service, the file gets the service's user as
owner.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def give_to_owner_of(folder: Path, path: Path) -> None:
    """Set the owner of `path` to the owner of `folder`. Do nothing if this process is not root, because only root
    may change owners.
    """
    owner = folder.stat()
    with suppress(PermissionError):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def create_folders(folder: Path, mode: int = 0o777) -> None:
    """Create the folder and the missing folders above it. Raise OSError if that fails.

    Each new folder belongs to the owner of its parent folder. `mode` applies to `folder` itself.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in reversed(missing):
        give_to_owner_of(each.parent, each)


def new_private(path: Path) -> IO[bytes]:
    """Create a file that belongs to the folder's owner, open for writing. Raise OSError, such as
    FileExistsError.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    give_to_owner_of(path.parent, path)
    return os.fdopen(file, "wb")


@contextmanager
def new_durable(path: Path) -> Iterator[IO[bytes]]:
    """Create a file as `new_private` does, and sync it to the disk at the end."""
    with new_private(path) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that belongs to the folder's owner, and sync it to the disk. Raise OSError, such as
    FileExistsError.
    """
    with new_durable(path) as file:
        file.write(content)


def replace_private(path: Path, content: bytes) -> None:
    """Write a file that belongs to the folder's owner, or replace it. The file changes whole or not at all. Raise
    OSError if that fails.
    """
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    write_private(unfinished, content)
    unfinished.rename(path)


def new_private_folder(path: Path) -> None:
    """Create a folder that belongs to the owner of its parent folder. Raise OSError if that fails."""
    path.mkdir(mode=0o700)
    give_to_owner_of(path.parent, path)


def user_name(number: int) -> str:
    """Return the name of the user with this number, or the number if the user has no name."""
    return known_name(number) or str(number)


def known_name(number: int) -> str:
    """Return the name of the user with this number, or "" if the user has no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""
