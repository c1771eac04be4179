"""The backup that a damaged file is restored from, for the sentences that say so."""

import shlex
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.app.backups.archive import read_manifest
from wmsd.app.backups.backup_folder import BackupFolder
from wmsd.app.backups.manifest import PLATFORM
from wmsd.app.backups.record import read_record
from wmsd.base.counts import counted
from wmsd.db.failures import StorageError

UNKNOWN: Final = "FILE"
"""Stands in a command where there is no such backup."""
MOST_READ: Final = 100


class Content(NamedTuple):
    installation: str
    names: frozenset[str]
    """The codes of its companies, and `platform.db`."""


def newest_with(data: Path, folder: Path, name: str = PLATFORM) -> str:
    """The path, as a shell reads it, of the newest backup with the company of this code, or with `platform.db`. Of
    another installation only where the data folder does not know which is its own.
    """
    made = read_record(data).made
    for path in BackupFolder(folder).archives()[: -MOST_READ - 1 : -1]:
        try:
            content = _content(path, path.stat().st_mtime_ns)
        except (StorageError, OSError):
            continue
        if name in content.names and (made is None or made.installation == content.installation):
            return shlex.quote(str(path.absolute()))
    return UNKNOWN


def brings_data_back(data: Path, folder: Path) -> str:
    """A sentence about the backups of data that are gone; empty where there are none."""
    archives = BackupFolder(folder).archives()
    if not archives:
        return ""
    newest = newest_with(data, folder)
    return f"{folder} has {counted(len(archives), 'backup')}: wmsd backup restore {newest} brings the data back."


@lru_cache(maxsize=MOST_READ)
def _content(path: Path, changed: int) -> Content:
    """Many files may be told of, and the manifest of a thousand companies takes a while to read."""
    manifest = read_manifest(path)
    return Content(manifest.installation, frozenset(file.code or file.path for file in manifest.files))
