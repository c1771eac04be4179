"""The search for data and backups in the folders that earlier versions used.

Until version 1.0.0, every relative path was relative to the current directory, even in a configuration file. The
default backup folder was ./backups. If only the old folder contains something, wmsd continues to use it, and a
sentence reports this.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.host.systemd.paths import CONFIG, STATE
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import here, is_hidden, read_record
from wmsd.settings.all_settings import Settings
from wmsd.settings.paths import Layer, RelativePath, default_backups, from_folder, relative_paths

OLD_BACKUPS: Final = "backups"
DATA: Final = ("server", "data")
BACKUPS: Final = ("backup", "folder")


class Settled(NamedTuple):
    settings: Settings
    sentences: list[str]
    """Sentences that name each old place that is still used, and say what to do about it."""
    two_of_data: list[str]
    """One sentence if both the old and the new place contain data. Otherwise empty."""
    two_of_backups: list[str]
    """One sentence if both the old and the new place contain backups of this installation. Otherwise empty."""


def use_old_places(settings: Settings, layers: Sequence[Layer]) -> Settled:
    """Find the old folders that are still used. Return the settings with these folders.

    `layers` are the sources of the settings. The result also has sentences that tell a person what to change.
    """
    found = Settled(settings, [], [], [])
    for file, each in _of_file(layers):
        found = _of_path(found, file, each)
    if any("folder" in layer.values.get("backup", {}) for layer in layers):
        return found
    beside = str(default_backups(Path(found.settings.server.data)))
    return _of_default(found._replace(settings=_with(found.settings, BACKUPS, beside)))


def _of_file(layers: Sequence[Layer]) -> Iterator[tuple[Layer, RelativePath]]:
    """Yield the relative paths in the configuration file, the data folder first. Leave out a path if a later
    source sets the same key.
    """
    for place, layer in enumerate(layers):
        if layer.kind == "file":
            for each in sorted(relative_paths(layer), key=lambda each: (each.section, each.key) != DATA):
                if not any(each.key in later.values.get(each.section, {}) for later in layers[place + 1 :]):
                    yield layer, each


def _of_path(found: Settled, file: Layer, each: RelativePath) -> Settled:
    name, now = (each.section, each.key), Path(from_folder(file, each.value))
    has, what = _looks_for(found.settings, name)
    old = next((old for old in _old_paths(file, each.value) if not _are_one(now, old) and has(old)), None)
    if old is None or (name == BACKUPS and _is_made_in(now, found.settings)):
        return found
    means = f'{each.section}.{each.key} = "{each.value}" in {file.name} is relative to that file, and means {now}.'
    if not has(now):
        sentence = (
            f"{means} Only {old}, where earlier versions of wmsd looked, has {what}, so wmsd uses that path. "
            f'To settle this, write the whole path into {file.name}: {each.key} = "{old}"'
        )
        changed = _with(found.settings, name, str(old))
        return found._replace(settings=changed, sentences=[*found.sentences, sentence])
    two_places = (
        f"{means} There are also {what} in {old}, where earlier versions of wmsd looked. Write the whole "
        f"path of the right folder into {file.name}."
    )
    if name == DATA:
        return found._replace(two_of_data=[two_places])
    return found._replace(two_of_backups=[two_places]) if name == BACKUPS else found


def _old_paths(file: Layer, value: str) -> Iterator[Path]:
    """Yield the paths that `value`, a relative path in the configuration file, could mean in earlier versions.

    In these versions, the path was relative to the current directory. For a service, this was the service's
    directory.
    """
    yield from _from_here(value)
    if Path(file.name) == CONFIG:
        yield STATE / value


def _looks_for(settings: Settings, name: tuple[str, str]) -> tuple[Callable[[Path], bool], str]:
    """Return a function that checks whether a path contains the expected files. Also return a noun for these
    files, such as "data".

    `name` is the setting whose files are expected.
    """
    if name == DATA:
        return _has_data, "data"
    if name == BACKUPS:
        return (lambda folder: _has_backups(Path(settings.server.data), folder)), "backups of this installation"
    return os.path.lexists, "such a file"


def _of_default(found: Settled) -> Settled:
    """Choose the backup folder if no setting names it: the default folder, or ./backups like earlier versions.

    Return `found` with this folder. If a person should change something, add a sentence that says what.
    """
    data, now = Path(found.settings.server.data), Path(found.settings.backup.folder)
    if _is_made_in(now, found.settings):
        return found
    others = (each for each in _old_backups(data) if not _are_one(each, now) and _has_backups(data, each))
    old = next(others, None)
    if old is None:
        return found
    if not _has_backups(data, now):
        sentence = (
            f"The backups of this installation are in {old}, and wmsd stores new backups there too. The "
            f"default folder is now {now}. To settle this, name the folder in the configuration file, in the "
            f'section [backup], with folder = "{old}"; or stop the server and move the folder: mv '
            f"{shlex.quote(str(old))} {shlex.quote(str(now))}"
        )
        return found._replace(
            settings=_with(found.settings, BACKUPS, str(old)), sentences=[*found.sentences, sentence]
        )
    two_places = (
        f"There are backups of this installation in {now}, the default folder, and in {old}, where "
        "earlier versions of wmsd created them. Move the archives into one of the two folders, or name "
        "one folder in backup.folder."
    )
    return found._replace(two_of_backups=[two_places])


def _old_backups(data: Path) -> Iterator[Path]:
    """Yield ./backups in each directory where the server of an earlier version ran, or may have run."""
    made = read_record(data).made
    if made is not None and made.directory is not None:
        folder = Path(made.directory) / OLD_BACKUPS
        if _are_one(folder, Path(made.path).parent):
            yield folder
    yield from _from_here(OLD_BACKUPS)
    yield data.parent / OLD_BACKUPS


def _is_made_in(folder: Path, settings: Settings) -> bool:
    """Return True if the last scheduled backup was created in this folder. In this case, the folder is the right
    one, even if other folders contain backups too.
    """
    made = read_record(Path(settings.server.data)).made
    return made is not None and _are_one(Path(made.path).parent, folder)


def _has_data(folder: Path) -> bool:
    return os.path.lexists(folder / PLATFORM_FILE) or os.path.lexists(folder / "companies")


def _has_backups(data: Path, folder: Path) -> bool:
    """Return True if the folder has backups of the installation in `data`.

    If this user cannot see the folder, the record of the last backup decides.
    """
    if not BackupFolder(folder).archives():
        made = read_record(data).made
        return made is not None and Path(made.path).parent == folder and is_hidden(Path(made.path))
    from wmsd.maintenance.backups import (
        installations,  # imported here: most installations have nothing in old places
    )

    own = installations.own_installation(data)
    if own is None:
        return installations.may_be_lost_data(data, folder)
    return own in installations.installations_in(folder)


def _are_one(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _from_here(value: str) -> Iterator[Path]:
    """Yield the relative path `value` in the current directory. Yield nothing if the current directory was
    removed.
    """
    current = here()
    if current is not None:
        yield Path(current) / value


def _with(settings: Settings, name: tuple[str, str], value: Any) -> Settings:
    section, key = name
    changed = getattr(settings, section).model_copy(update={key: value})
    return settings.model_copy(update={section: changed})
