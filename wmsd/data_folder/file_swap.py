"""Replaces several files: all or none, even if the process is killed halfway.

The renames are first stored in `swap.json` in the data folder. If they are interrupted, the next process that uses
the folder finishes them.
"""

import fcntl
import json
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.machine.descriptors import sync_folder
from wmsd.base.machine.private_files import new_private_folder, replace_private
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.litestream_configuration import SOCKET
from wmsd.db.engine.failures import StorageError

LOG = logging.getLogger("wmsd.data")
JOURNAL: Final = "swap.json"
SIDES: Final = ("", "-wal", "-shm")
"""The suffixes of a database file and of the files that SQLite creates next to it. Files with these suffixes are
renamed together.
"""


class Rename(NamedTuple):
    """A rename of a file. Both paths are relative to the data folder."""

    source: str
    target: str


def sync(folder: Path) -> None:
    """Sync the folder, so that its new entries survive a power cut. Skip a folder that this user may not read."""
    with suppress(PermissionError):
        sync_folder(folder)


def replaced_folder() -> str:
    """Return a folder name that contains the present time. The caller moves replaced files into this folder inside
    the data folder.
    """
    return f"replaced-{timestamps.for_file_name(datetime.now(UTC))}"


def with_sides(data: Path, source: str, target: str) -> list[Rename]:
    """Return the renames that move a database file from `source` to `target`, together with SQLite's files next to
    it.

    Files that do not exist are left out.
    """
    return [Rename(source + side, target + side) for side in SIDES if (data / (source + side)).exists()]


def swap(data: Path, renames: Iterable[Rename]) -> None:
    """Store `renames` in the data folder, then rename the files in this order.

    A target must not exist, unless an earlier rename moves it away. If `renames` cannot be stored, raise OSError
    and rename no file. If a stored rename fails, raise SwapUnfinished.
    """
    replace_private(data / JOURNAL, json.dumps([list(each) for each in renames]).encode())
    try:
        sync(data)
        finish_swap(data)
    except OSError as error:
        raise SwapUnfinished(data, error) from error


class SwapUnfinished(StorageError):
    """The error if a stored rename has failed. The next call of `finish_swap` does the missing renames."""

    def __init__(self, data: Path, error: OSError) -> None:
        reason = reason_of(error)
        super().__init__(
            f"wmsd could not put all files in {data} in place: {reason}. No data is lost: wmsd continues at "
            "the next start, or with the next command. Check the disk first."
        )


def is_begun(data: Path) -> bool:
    return (data / JOURNAL).exists()


def finish_swap(data: Path) -> None:
    """Finish the renames that `swap` has begun. Several processes may call this at the same time.

    Raise StorageError or OSError if that fails.
    """
    journal = data / JOURNAL
    try:
        file = journal.open(encoding="utf-8")
    except FileNotFoundError:
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not journal.exists():  # another process was first
            return
        try:
            renames = [Rename(source, target) for source, target in json.load(file)]
        except (ValueError, TypeError):
            raise StorageError(
                f"{journal}, which records an interrupted restore, cannot be read. Nothing was changed. Copy "
                "the data folder, and restore a backup into a new folder."
            ) from None
        _have_replicas_let_go(data, renames)
        for each in renames:
            _rename(data, each)
        for folder in {(data / name).parent for each in renames for name in each}:
            if folder.exists():
                sync(folder)
        journal.unlink()
        sync(data)


def _have_replicas_let_go(data: Path, renames: Iterable[Rename]) -> None:
    if (data / SOCKET).exists():
        from wmsd.data_folder.litestream import let_go  # imported here, because few installations use Litestream

        let_go(data, [data / each.source for each in renames if each.source.endswith(".db")])


def _rename(data: Path, each: Rename) -> None:
    """Rename a file, unless its target exists. In that case the rename was already done."""
    source, target = data / each.source, data / each.target
    if target.exists():
        return
    _make_folders(target.parent)
    source.rename(target)


def _make_folders(folder: Path) -> None:
    if not folder.exists():
        _make_folders(folder.parent)
        new_private_folder(folder)
