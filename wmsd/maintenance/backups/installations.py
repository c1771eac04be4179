"""Finds the installations that share a backup folder, and the data folder of each.

A file next to the archives stores the data folder of each installation. Earlier versions did not write this file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wmsd.base.machine.folder_lock import folder_lock
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.platform_facts import installation_of
from wmsd.maintenance.backups.archive import readable_manifests
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import read_record

FILE: Final = ".installations.json"
USUAL_DATA: Final = "data"
"""The name of the default data folder."""
MOST_READ: Final = 100
MOST_NEIGHBOURS: Final = 100


class _Kept(StoredModel):
    """The data folders by installation id."""

    folders: dict[str, str] = {}


def note_whose(folder: Path, installation: str, data: Path) -> None:
    """Store in the backup folder `folder` that `data` is the data folder of `installation`. Call this function
    after each backup.

    Raise OSError if that fails.
    """
    with folder_lock(folder):
        kept = _folders(folder)
        if kept.get(installation) != str(data.resolve()):
            write_json_file(folder / FILE, _Kept(folders={**kept, installation: str(data.resolve())}))


def is_anothers(installation: str, data: Path, folder: Path) -> bool:
    """Return True if `installation` uses a data folder other than `data`, and this folder exists.

    `folder` is the backup folder with the archives of `installation`.
    """
    noted = _folders(folder).get(installation)
    if noted is not None and (Path(noted) == data.resolve() or _has_data(Path(noted))):
        return Path(noted) != data.resolve()
    return any(own_installation(each) == installation for each in _neighbours(data, folder))


def may_be_lost_data(data: Path, folder: Path) -> bool:
    """Return True if the archives in `folder` may be the only remaining copy of `data`.

    The result is True if an archive comes from `data`. It is also True if the origin of an archive is unknown and
    `data` has the name of the default data folder.
    """
    kept = _folders(folder)
    return any(
        kept[each] == str(data.resolve())
        if each in kept
        else data.name == USUAL_DATA and not is_anothers(each, data, folder)
        for each in set(installations_in(folder))
    )


def installations_in(folder: Path) -> Iterator[str]:
    """Yield the installation ids of the archives that can be read, the newest archive first."""
    for _, manifest in readable_manifests(BackupFolder(folder).archives()[: -MOST_READ - 1 : -1]):
        yield manifest.installation


def own_installation(data: Path) -> str | None:
    """Return the id of the installation whose data folder is `data`. Return None if there is no data or it cannot
    be read.
    """
    made = read_record(data).made
    return installation_of(DataFolder(data)) if made is None else made.installation


def _neighbours(data: Path, folder: Path) -> Iterator[Path]:
    """Yield all data folders, except `data`, that are next to `data` or next to the backup folder `folder`."""
    for place in {data.absolute().parent, folder.absolute().parent}:
        try:
            beside = sorted(place.iterdir())[:MOST_NEIGHBOURS]
        except OSError:
            continue
        yield from (each for each in beside if each.resolve() != data.resolve() and _has_data(each))


def _has_data(folder: Path) -> bool:
    try:
        return DataFolder(folder).platform_file.exists()
    except OSError:
        return False


def _folders(folder: Path) -> dict[str, str]:
    return read_json_file(folder / FILE, _Kept()).folders
