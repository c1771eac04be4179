"""Files that only their owner may read."""

import os
import pwd
from pathlib import Path
from typing import IO

from wmsd.base.machine.file_owner import give_to_owner_of


def new_private(path: Path) -> IO[bytes]:
    """A new file of the folder's owner, open for writing. Raises OSError, such as FileExistsError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    give_to_owner_of(path.parent, path)
    return os.fdopen(file, "wb")


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
