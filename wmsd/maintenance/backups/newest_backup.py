"""Finds the backup from which a damaged file can be restored. Error messages name this backup."""

import shlex
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base.plurals import count_of, first_few
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.platform_loss import UNKNOWN
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import read_record

MOST_READ: Final = 100


class Content(NamedTuple):
    installation: str
    names: frozenset[str]
    """The codes of the companies in the backup, and `platform.db`."""
    lacks: tuple[str, ...]
    """The codes of the companies that are missing in the backup, because they could not be saved."""
    made_at: str


class BackupsIn(NamedTuple):
    """A backup folder, for the code that opens a data folder. An error about a lost platform.db can then name the
    newest backup.
    """

    folder: Path

    def newest(self, data: Path) -> str:
        return newest_with(data, self.folder)


def newest_with(data: Path, folder: Path, name: str = PLATFORM_FILE, installation: str | None = None) -> str:
    """Return the path of the newest backup that contains `name`, quoted for the shell.

    `name` is a company code or `platform.db`. A backup with known problems is returned only if there is no other.
    If no backup contains `name`, return the placeholder UNKNOWN. Also return UNKNOWN if several installations
    share the folder, and it is not known which of them uses `data`.

    `installation` is the id of the installation. If it is None, use the id in the backup record of `data`.
    """
    known, faulty = _known(data, folder, installation), read_record(data).faulty
    having = [each for each in known if name in each[1].names]
    path = next((path for path, _ in sorted(having, key=lambda each: each[1].made_at in faulty)), None)
    return UNKNOWN if path is None or _are_of_several(known) else shlex.quote(str(path.absolute()))


def brings_data_back(data: Path, folder: Path) -> str:
    """Return sentences that say how to restore lost data from the backups in `folder`.

    Return "" if `folder` has no backup that can belong to the data folder `data`.
    """
    others = _of_others(data, folder)
    archives = [each for each in BackupFolder(folder).archives() if each not in others]
    if not archives:
        return ""
    there = f"{folder} has {count_of(len(archives), 'backup')}"
    mount = "If the data is on a separate disk, mount the disk."
    known = _known(data, folder)
    if _are_of_several(known):
        lists = f"wmsd backup list --folder {shlex.quote(str(folder.absolute()))}"
        restores = "Otherwise restore a backup of this installation: wmsd backup restore FILE."
        return f"{there}, of several installations: {lists} shows them. {mount} {restores}"
    lacks = next((content.lacks for _, content in known if PLATFORM_FILE in content.names), ())
    but = (
        f", but not the data of {', '.join(first_few(lacks))}: the command then says which backup has them"
        if lacks
        else ""
    )
    return f"{there}. {mount} Otherwise wmsd backup restore {newest_with(data, folder)} restores the data{but}."


def _known(data: Path, folder: Path, installation: str | None = None) -> list[tuple[Path, Content]]:
    """Return the path and the content of each backup of the installation, the newest first.

    `installation` is the id of the installation. If it is None, use the id in the backup record of `data`. If the
    id is still unknown, return all backups except those that belong to other data folders.
    """
    made = read_record(data).made
    own = installation or (made.installation if made else None)
    if own is not None:
        return [each for each in _read(folder) if each[1].installation == own]
    others = _of_others(data, folder)
    return [each for each in _read(folder) if each[0] not in others]


def _of_others(data: Path, folder: Path) -> set[Path]:
    """Return the backups of installations that use another data folder than `data`.

    Return an empty set if `data` and `folder` are the same folder, which is a user's mistake.
    """
    from wmsd.maintenance.backups.installations import is_anothers  # imported here like `read_manifest`

    if data.resolve() == folder.resolve():
        return set()
    found = _read(folder)
    others = {each for each in {content.installation for _, content in found} if is_anothers(each, data, folder)}
    return {path for path, content in found if content.installation in others}


def _read(folder: Path) -> list[tuple[Path, Content]]:
    found = []
    for path in BackupFolder(folder).archives()[: -MOST_READ - 1 : -1]:
        with suppress(StorageError, OSError):
            found.append((path, _content(path, path.stat().st_mtime_ns)))
    return found


def _are_of_several(backups: list[tuple[Path, Content]]) -> bool:
    return len({content.installation for _, content in backups}) > 1


@lru_cache(maxsize=MOST_READ)
def _content(path: Path, changed: int) -> Content:
    """Read the content of an archive. `changed` is the modification time of the file.

    The result is cached, because many errors may name a backup, and a large manifest takes long to read.
    """
    from wmsd.maintenance.backups.archive import read_manifest  # imported here: few commands need it

    manifest = read_manifest(path)
    names = frozenset(file.code or file.path for file in manifest.files)
    return Content(manifest.installation, names, tuple(each.code for each in manifest.left_out), manifest.began_at)
