"""Asks the person at the terminal before a data folder is created in a place that has other files. A script must
use `--create`.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

import wmsd
from wmsd.base.machine.private_files import create_folders
from wmsd.base.plurals import first_few
from wmsd.data_folder.messages import where_instead
from wmsd.data_folder.names import foreign_names
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.doctor.usable_folder import check_new
from wmsd.settings.paths import INSIDE, default_backups

OWN_BEGINNING: Final = "wmsd"
"""The beginning of the names of our own downloaded files, such as wmsd, wmsd-1.1.0.minisig and wmsd.previous."""

SOURCES: Final = Path(wmsd.__file__).resolve().parents[1]
PRINTED_TO: Final = (1, 2)
"""The file descriptors of standard output and standard error."""

create_option = click.option(
    "--create",
    is_flag=True,
    help="Create the data folder even if other files are there, if its parent folder is missing, or if "
    "there are backups of earlier data.",
)


def may_be_made(command_line: CommandLine, create: bool) -> None:
    """Ask whether the data folder may be created although there are other files: files in the data folder or in
    the current directory that do not belong to wmsd.

    Ask nothing if `create` is True, if there is wmsd data already, or if there are no such files. Raise
    StorageError if the answer is no, if there is nobody to ask, if the parent folder is missing, or if the data is
    probably in another place.
    """
    folder = command_line.folder
    # if only platform.db is missing, no new data folder is created
    if create or folder.is_made or any(folder.companies.glob("*.db")):
        return
    check_new(folder, command_line.backups)
    data = folder.path.resolve()
    place, found = _found(command_line)
    if not found:
        return
    if instead := where_instead(folder.path):
        raise StorageError(
            f"The folder {data} has no wmsd data. Nothing was created. To create a data folder there anyway, "
            f"start with --create. {instead}"
        )
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise StorageError(
            f"The folder {place} has no wmsd data, but has {_described(found)}. Nothing was created. To create "
            f"the data folder {data} anyway, start with --create. Otherwise start in an empty folder, or "
            "name the data folder with --data."
        )
    note(f"The folder {place} has no wmsd data, but has {_described(found)}.")
    if not click.confirm(f"Create the data folder {data}?", err=True):
        raise StorageError("Nothing was created. Start in an empty folder, or name the data folder with --data.")


def with_backups_inside(command_line: CommandLine) -> CommandLine:
    """Create a backup folder inside the data folder, and return the command line that uses it.

    A demo can then be removed by deleting one folder. If the settings name a backup folder, change nothing.
    """
    if any("folder" in layer.values.get("backup", {}) for layer in command_line.layers):
        return command_line
    data = command_line.folder.path
    create_folders(data / INSIDE, 0o700)
    backup = command_line.settings.backup.model_copy(update={"folder": str(default_backups(data))})
    return replace(command_line, settings=command_line.settings.model_copy(update={"backup": backup}))


def refuse_foreign_files(command_line: CommandLine) -> None:
    """Raise StorageError if the data folder has no wmsd data yet, but has files that do not belong to wmsd."""
    folder = command_line.folder
    if not folder.is_made and (found := _in_data(command_line)):
        raise StorageError(
            f"The folder {folder.path.resolve()} has no wmsd data, but has {_described(found)}. Nothing was "
            "changed. Name an empty folder with --data."
        )


def _found(command_line: CommandLine) -> tuple[Path, list[str]]:
    """Return a folder, and the names of its files that do not belong to wmsd.

    If the data folder has such files, return the data folder. Otherwise return the current directory. Its list is
    empty if `_is_chosen` is True for it.
    """
    if found := _in_data(command_line):
        return command_line.folder.path.resolve(), found
    here = Path.cwd()
    return here, [] if _is_chosen(command_line, here) else sorted(_others(command_line, here))


def _in_data(command_line: CommandLine) -> list[str]:
    data = command_line.folder.path
    places = {path.name for path in _of_settings(command_line) if path.parent == data.resolve()}
    try:
        return [name for name in foreign_names(data) if name not in places]
    except OSError:  # an error of the folder is reported when the folder is created
        return []


def _is_chosen(command_line: CommandLine, here: Path) -> bool:
    """Return True if a person has chosen the folder `here` for wmsd.

    This is so if the settings name a data folder, if the configuration file is in `here`, or if `here` is the
    folder with wmsd's sources.
    """
    is_named = any("data" in layer.values.get("server", {}) for layer in command_line.layers)
    file = command_line.config_file
    return is_named or (file is not None and file.resolve().parent == here) or here == SOURCES


def _others(command_line: CommandLine, here: Path) -> Iterator[str]:
    """Yield the names of files in the folder that do not belong to wmsd.

    Leave out hidden files, because a new home directory has some. Also leave out folders with backups: another
    check finds out which installation these belong to.
    """
    own = {command_line.folder.path.resolve(), *_of_settings(command_line)}
    for entry in here.iterdir():
        is_program = entry.name.startswith(OWN_BEGINNING) and entry.is_file()
        is_own = entry.name.startswith(".") or is_program or entry.resolve() in own or _is_printed_to(entry)
        if not is_own and not BackupFolder(entry).archives():
            yield entry.name


def _is_printed_to(entry: Path) -> bool:
    """Return True if the output of the program goes into this file, as in `wmsd serve > log 2>&1`."""
    with suppress(OSError):
        status = entry.stat()
        return any(os.path.samestat(status, os.fstat(number)) for number in PRINTED_TO)
    return False


def _of_settings(command_line: CommandLine) -> Iterator[Path]:
    """Yield the paths of the backup folder and of the log file that the settings name."""
    settings = command_line.settings
    return (Path(name).resolve() for name in (settings.backup.folder, settings.log.file) if name)


def _described(found: Sequence[str]) -> str:
    if len(found) == 1:
        return f"one other file or folder: {_shown(found[0])}"
    return f"{len(found)} other files and folders: {', '.join(first_few(map(_shown, found)))}"


def _shown(name: str) -> str:
    """Return the name, with control characters escaped. Another user chose the name, so it must not control the
    terminal.
    """
    return name if name.isprintable() else repr(name)
