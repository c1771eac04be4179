"""Says what to do where a folder is no data folder, or is not this user's."""

import os
import shlex
from pathlib import Path

from wmsd.base.machine.private_files import known_name
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db.engine.failures import StorageError, is_damage, problem_of_failure


def refuse_others(path: Path, error: OSError) -> None:
    """Raises StorageError when the reason of the error is that the data folder is another user's, and this one may
    not use it.
    """
    owner = _owner(path)
    if not isinstance(error, PermissionError) or owner == os.geteuid():
        return
    name = known_name(owner)
    number = f"'#{owner}'"  # as sudo takes it
    as_owner = f"sudo -u {name or number}" if owner else "sudo"
    raise StorageError(
        f"The data folder {path} belongs to {name or f'the user with the number {owner}'}, and this user may "
        f"not use it. Type the command as that user: {as_owner} wmsd …"
    ) from None


def _owner(path: Path) -> int:
    """Of the folder; where it cannot be seen, of the one above it that hides it."""
    for folder in (path.absolute(), *path.absolute().parents):
        try:
            return folder.stat().st_uid
        except OSError:
            continue
    return os.geteuid()


def where_instead(path: Path) -> str:
    """A sentence about the data folder in it, above it, or beside the folder that it is in; empty where there is
    none.
    """
    whole = path.absolute()
    for place, found in (("in", whole / "data"), ("above", whole.parent), ("above", whole.parent.parent / "data")):
        try:
            is_there = found != whole and (found / PLATFORM_FILE).exists()
        except OSError:
            continue
        if is_there:
            named = str(found) if path.is_absolute() else os.path.relpath(found)
            return f"There is a data folder {place} it: --data {shlex.quote(named)}"
    return ""


def check_folder(path: Path) -> None:
    """Raises StorageError when it is a file."""
    if path.is_file():
        raise StorageError(f"{path} is a file, and no data folder. Name a folder with --data.")


def as_storage_error(error: Exception) -> StorageError:
    reason = " ".join(str(error).split())
    if is_damage(error):
        return StorageError(
            f"A file in the data folder is damaged ({reason}). `wmsd doctor` says which, and how it is restored."
        )
    known = problem_of_failure(error)
    return StorageError(f"The data cannot be used: {reason if known is None else f'{known.message} ({reason})'}")
