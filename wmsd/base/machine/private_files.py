"""Files that only their owner may read. What root makes beside a service of another user becomes that user's."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def give_to_owner_of(folder: Path, path: Path) -> None:
    """Only root can do this, and nobody else needs it."""
    owner = folder.stat()
    with suppress(PermissionError):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def create_folders(folder: Path, mode: int = 0o777) -> None:
    """Makes the folder and those above it that are missing, each for the owner of the one that it is in.
    `mode`: of the folder itself. Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in reversed(missing):
        give_to_owner_of(each.parent, each)


def new_private(path: Path) -> IO[bytes]:
    """A new file of the folder's owner, open for writing. Raises OSError, such as FileExistsError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    give_to_owner_of(path.parent, path)
    return os.fdopen(file, "wb")


@contextmanager
def new_durable(path: Path) -> Iterator[IO[bytes]]:
    """As `new_private`, for a file that is on the disk once it is written."""
    with new_private(path) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_private(path: Path, content: bytes) -> None:
    """Writes a new file of the folder's owner, to the disk. Raises OSError, such as FileExistsError."""
    with new_durable(path) as file:
        file.write(content)


def replace_private(path: Path, content: bytes) -> None:
    """Writes a file of the folder's owner whole or not at all, also where there is one already. Raises OSError."""
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    write_private(unfinished, content)
    unfinished.rename(path)


def new_private_folder(path: Path) -> None:
    """A new folder of the owner of the one that it is in. Raises OSError."""
    path.mkdir(mode=0o700)
    give_to_owner_of(path.parent, path)


def user_name(number: int) -> str:
    """The name of a user; its number where it has none."""
    return known_name(number) or str(number)


def known_name(number: int) -> str:
    """The name of a user; empty where it has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""
