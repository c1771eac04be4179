"""The backup that a damaged file is restored from, for the sentences that say so."""

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
    """The codes of its companies, and `platform.db`."""
    lacks: tuple[str, ...]
    """The codes of those that could not be saved."""
    made_at: str


class BackupsIn(NamedTuple):
    """Those of a folder. A data folder is opened with them, to name the newest where platform.db is lost."""

    folder: Path

    def newest(self, data: Path) -> str:
        return newest_with(data, self.folder)


def newest_with(data: Path, folder: Path, name: str = PLATFORM_FILE, installation: str | None = None) -> str:
    """The path, as a shell reads it, of the newest backup with the company of this code, or with `platform.db`.
    None is named where the record of its own installation is gone with the data, others share the folder, and the
    `installation` is not given. One of which a proof found problems is named only where there is no other.
    """
    known, faulty = _known(data, folder, installation), read_record(data).faulty
    having = [each for each in known if name in each[1].names]
    path = next((path for path, _ in sorted(having, key=lambda each: each[1].made_at in faulty)), None)
    return UNKNOWN if path is None or _are_of_several(known) else shlex.quote(str(path.absolute()))


def brings_data_back(data: Path, folder: Path) -> str:
    """Sentences about the backups of data that are gone; empty where there are none."""
    others = _of_others(data, folder)
    archives = [each for each in BackupFolder(folder).archives() if each not in others]
    if not archives:
        return ""
    there = f"{folder} has {count_of(len(archives), 'backup')}"
    mount = "If the data are on a disk of their own, mount it."
    known = _known(data, folder)
    if _are_of_several(known):
        lists = f"wmsd backup list --folder {shlex.quote(str(folder.absolute()))}"
        restores = "Otherwise restore one of its own: wmsd backup restore FILE."
        return f"{there}, of several installations: {lists} shows them. {mount} {restores}"
    lacks = next((content.lacks for _, content in known if PLATFORM_FILE in content.names), ())
    but = f", but not those of {', '.join(first_few(lacks))}: it says then which backup has them" if lacks else ""
    return f"{there}. {mount} Otherwise wmsd backup restore {newest_with(data, folder)} brings the data back{but}."


def _known(data: Path, folder: Path, installation: str | None = None) -> list[tuple[Path, Content]]:
    """The backups of the installation, the newest first. Where no record says which is its own, those of all but
    the installations of other data folders.
    """
    made = read_record(data).made
    own = installation or (made.installation if made else None)
    if own is not None:
        return [each for each in _read(folder) if each[1].installation == own]
    others = _of_others(data, folder)
    return [each for each in _read(folder) if each[0] not in others]


def _of_others(data: Path, folder: Path) -> set[Path]:
    """The backups of installations that other data folders have. Where a folder of backups is taken for one of
    data, all count.
    """
    from wmsd.maintenance.backups.installations import is_anothers  # imported here, as `read_manifest`

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
    """Many files may be told of, and the manifest of a thousand companies takes a while to read."""
    from wmsd.maintenance.backups.archive import read_manifest  # imported here: few commands read one

    manifest = read_manifest(path)
    names = frozenset(file.code or file.path for file in manifest.files)
    return Content(manifest.installation, names, tuple(each.code for each in manifest.left_out), manifest.began_at)
