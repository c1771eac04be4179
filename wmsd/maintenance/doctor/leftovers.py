"""Findings about unfinished files and folders that a killed wmsd has left and no process uses any more."""

import os
import re
import shutil
import stat
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, NamedTuple

from wmsd.base.byte_sizes import size_text
from wmsd.base.machine import scratch_folders
from wmsd.contract.findings import FindingKind, Found
from wmsd.data_folder import file_swap
from wmsd.db.engine import staging
from wmsd.db.files import read_only_copy
from wmsd.maintenance.backups import create, restore, verify
from wmsd.maintenance.backups.folder import OF_COMPANIES, UNFINISHED
from wmsd.maintenance.company_moves import export_import
from wmsd.maintenance.doctor.situation import Situation
from wmsd.maintenance.replica import restore_replica
from wmsd.maintenance.upgrades import kept_copies

UNUSED_AFTER: Final = timedelta(hours=1)
"""A file counts as unused if nothing was written to it for this time."""

IN_USE: Final = "it is in use again"


class Begun(NamedTuple):
    """A kind of unfinished file or folder. `name` is a pattern for `Path.glob`. If `of_swap` is True, an
    interrupted `swap` may still need the file.
    """

    where: Literal["data", "backups", "temporary"]
    name: str
    of_swap: bool = False


BEGUN: Final = (
    Begun("data", "*.json.new"),
    Begun("data", "platform.db.new*"),
    Begun("data", "companies/*.db.new*"),
    Begun("data", "tls/*.new"),
    Begun("data", f"{kept_copies.NAME}*/*.new"),
    Begun("data", f"{kept_copies.NAME}*/companies/*.new"),
    Begun("data", ".wmsd-probe"),
    Begun("data", f"{create.COPY}*"),
    Begun("data", verify.SCRATCH),
    Begun("data", restore.UNPACKED, of_swap=True),
    Begun("data", f"{export_import.UNPACKED}-*", of_swap=True),
    Begun("data", restore_replica.SCRATCH, of_swap=True),
    Begun("backups", f"{UNFINISHED}*"),
    Begun("backups", f"{OF_COMPANIES}/{UNFINISHED}*"),
    Begun("backups", verify.SCRATCH),
    Begun("temporary", f"{read_only_copy.SCRATCH}*"),
    Begun("temporary", f"{staging.PREFIX}*"),
)
"""The unfinished files that commands and the server may leave.

Two kinds of files are not in this list: files that the program writes next to its executable, and files that a
user names. The next command that writes such a file overwrites it.
"""
OF_PROCESS: Final = re.compile(re.escape(create.COPY) + r"([1-9][0-9]*)\.db.*", re.ASCII)
"""The names of copies of platform.db that the server writes for a command. The number is the command's process id.
"""

LEFTOVER: Final = FindingKind(
    "leftover",
    "warning",
    "{file} was never finished, and no process uses it. Last written: {begun}; size: {size}.",
    "Delete this file or folder.",
)
KINDS: Final = (LEFTOVER,)


def findings(at: Situation) -> Found:
    before = at.now - UNUSED_AFTER
    has_swap = file_swap.is_begun(at.data)
    folders = {"data": at.data, "backups": at.backups, "temporary": at.temporary}
    for begun in BEGUN:
        if begun.of_swap and has_swap:
            continue
        for path in _found(folders[begun.where], begun.name):
            with suppress(OSError, ValueError, OverflowError):
                if begun.where == "temporary" and path.lstat().st_uid != at.user:
                    continue
                changed, bytes_ = _extent(path)
                moment = datetime.fromtimestamp(changed, UTC)
                if moment < before and not _is_in_use(path):
                    yield LEFTOVER.of(path, begun=f"{moment:%Y-%m-%d %H:%M} UTC", size=size_text(bytes_))


def delete_leftover(path: Path) -> None:
    """Delete a leftover, unless it is in use again. Raise OSError if that fails."""
    needed = any(begun.of_swap and path.match(begun.name) for begun in BEGUN)
    if needed and file_swap.is_begun(path.parent):
        raise OSError(IN_USE)
    if not stat.S_ISDIR(path.lstat().st_mode):
        if _is_in_use(path):
            raise OSError(IN_USE)
        path.unlink()
        return
    with scratch_folders.unused(path) as is_unused:
        if not is_unused:
            raise OSError(IN_USE)
        shutil.rmtree(path)


def _found(folder: Path, name: str) -> list[Path]:
    with suppress(OSError):  # another check reports a folder that this user cannot read
        return sorted(folder.glob(name))
    return []


def _extent(path: Path) -> tuple[float, int]:
    """Return the time of the last write as a timestamp, and the size in bytes. For a folder, include everything in
    it.
    """
    status = path.lstat()
    changed, bytes_ = status.st_mtime, 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    if stat.S_ISDIR(status.st_mode):
        for each in path.iterdir():
            later, more = _extent(each)
            changed, bytes_ = max(changed, later), bytes_ + more
    return changed, bytes_


def _is_in_use(path: Path) -> bool:
    process = OF_PROCESS.fullmatch(path.name)
    if process is not None:
        return _is_alive(int(process[1]))
    if path.is_symlink() or not (path.is_dir() or path.is_file()):
        return False
    try:
        with scratch_folders.unused(path) as is_unused:
            return not is_unused
    except OSError:  # the file belongs to another user: only that user or root may delete it
        return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
