"""Errors that say what to do if a folder is not a data folder, or belongs to another user."""

import os
import shlex
from pathlib import Path

from wmsd.base.machine.private_files import known_name
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db.engine.failures import StorageError, is_damage, problem_of_failure


def refuse_others(path: Path, error: OSError) -> None:
    """Raise StorageError if the cause of `error` is that the data folder belongs to another user."""
    owner = _owner(path)
    if not isinstance(error, PermissionError) or owner == os.geteuid():
        return
    name = known_name(owner)
    number = f"'#{owner}'"  # as sudo accepts it
    as_owner = f"sudo -u {name or number}" if owner else "sudo"
    raise StorageError(
        f"The data folder {path} belongs to {name or f'the user with the number {owner}'}, and you may "
        f"not use it. Run the command as that user: {as_owner} wmsd …"
    ) from None


def _owner(path: Path) -> int:
    """Return the user id of the folder's owner. If this process may not see the folder, use the nearest folder
    above that it can see.
    """
    for folder in (path.absolute(), *path.absolute().parents):
        try:
            return folder.stat().st_uid
        except OSError:
            continue
    return os.geteuid()


def where_instead(path: Path) -> str:
    """Return a sentence that names a data folder inside or above this folder. Return "" if there is no such data
    folder.
    """
    whole = path.absolute()
    for place, found in (("in", whole / "data"), ("above", whole.parent), ("above", whole.parent.parent / "data")):
        try:
            is_there = found != whole and (found / PLATFORM_FILE).exists()
        except OSError:
            continue
        if is_there:
            named = str(found) if path.is_absolute() else os.path.relpath(found)
            return f"There is a data folder {place} that folder: --data {shlex.quote(named)}"
    return ""


def check_folder(path: Path) -> None:
    """Raise StorageError if the path is a file."""
    if path.is_file():
        raise StorageError(f"{path} is a file, not a data folder. Name a folder with --data.")


def as_storage_error(error: Exception) -> StorageError:
    reason = " ".join(str(error).split())
    if is_damage(error):
        return StorageError(
            f"A file in the data folder is damaged ({reason}). `wmsd doctor` says which file, and how to "
            "restore it."
        )
    known = problem_of_failure(error)
    return StorageError(f"The data cannot be used: {reason if known is None else f'{known.message} ({reason})'}")
