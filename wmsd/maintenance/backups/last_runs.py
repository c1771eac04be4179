"""Stores the results of the last scheduled backup and of the last verification, in a file in the data folder.

The health checks and `wmsd status` use them, and check whether these backups still exist.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from wmsd.base.machine.folder_lock import folder_lock
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file
from wmsd.settings.sections.backup import Backup

FILE: Final = "backup.json"
MOST_NOTED: Final = 100


class NotedBackup(StoredModel):
    at: str
    path: str
    """The path of the archive."""


class MadeBackup(NotedBackup):
    bytes: int
    seconds: float
    installation: str
    directory: str | None = None
    """The working directory of the schedule when it created its first backup in the folder of this archive. None
    if the directory is not known, as in records of earlier versions.

    Earlier versions created backups by default in ./backups of their working directory. wmsd searches this
    directory for such backups.
    """
    left_out: list[str] = []
    """The codes of companies whose files could not be read."""


class VerifiedBackup(NotedBackup):
    """The result of the verification of one archive."""

    seconds: float
    directory: str | None = None
    """The working directory of the schedule when it verified the archive."""
    problems: list[str] = []
    keys: str = ""
    """A text that says how the keys in the archive are protected. Empty in records of earlier versions."""


class FailedBackup(StoredModel):
    at: str
    error: str


class OtherServer(StoredModel):
    """Another server that creates scheduled backups of this installation in the same folder."""

    archive: str
    """The latest archive that the other server created between the last two backups of this server."""
    turns: int
    """How many times in a row an archive of the other server was between two backups of this server."""


class BackupRecord(StoredModel):
    """The record of the last runs. `made` is the last scheduled backup, and `proven` the last verification.
    `failed` is the last attempt if it failed, otherwise None.
    """

    made: MadeBackup | None = None
    proven: VerifiedBackup | None = None
    failed: FailedBackup | None = None
    sound: list[str] = []
    """The creation times of the archives that were verified without a problem, the latest verification last."""
    faulty: list[str] = []
    """The creation times of the archives in which the verification found problems."""

    other_server: OtherServer | None = None
    """The other server, or None if no other server has created an archive between the last two backups of this
    server.
    """

    def with_finding(self, made_at: str, is_whole: bool | None) -> "BackupRecord":
        """Return the record with the result of a new verification of the archive created at `made_at`. Earlier
        results for this archive are removed.

        `is_whole` says whether the archive can be restored completely. If this is not known, `is_whole` is None,
        and the record is returned unchanged.
        """
        if is_whole is None:
            return self
        sound = [each for each in self.sound if each != made_at]
        faulty = [each for each in self.faulty if each != made_at]
        (sound if is_whole else faulty).append(made_at)
        return self.model_copy(update={"sound": sound[-MOST_NOTED:], "faulty": faulty[-MOST_NOTED:]})

    def there(self, settings: Backup) -> "BackupRecord":
        """Return the record with the paths at which the last backup (`made`) and the last verified archive
        (`proven`) are now.

        Each is None if its archive no longer exists. `proven` may be an archive in which the verification found
        problems. Call this method on a thread, because it reads the disk.
        """
        made, proven = _there(settings, self.made), _there(settings, self.proven)
        return self.model_copy(update={"made": made, "proven": proven})


def read_record(data: Path) -> BackupRecord:
    """Return the record that is stored in the data folder, or an empty record if no record can be read."""
    return read_json_file(data / FILE, BackupRecord())


def change_record(data: Path, change: Callable[[BackupRecord], BackupRecord]) -> BackupRecord:
    """Read the record, change it with `change`, write it and return it. A lock keeps other commands and schedules
    from changing the record at the same time. Raise OSError if the record cannot be written.
    """
    with folder_lock(data):
        record = change(read_record(data))
        write_json_file(data / FILE, record)
    return record


def made_elsewhere(settings: Backup, record: BackupRecord) -> Path | None:
    """Return the recorded path of the last scheduled backup if the backup was created outside the present backup
    folder, because the setting was changed later.

    Return None if there is no such backup, or if its archive is found in the backup folder of `settings`.
    """
    made = record.made
    if made is None or record.there(settings).made is not None or is_in_folder(settings, made):
        return None
    return Path(made.path)


def is_hidden(archive: Path) -> bool:
    """Return True if this user has no permission to see whether the archive exists."""
    try:
        archive.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def here() -> str | None:
    """Return the current directory, or None if it was removed meanwhile."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def is_in_folder(settings: Backup, noted: NotedBackup) -> bool:
    """Return True if the recorded path of the archive is directly in the backup folder, not in a subfolder."""
    return Path(noted.path).absolute().parent.resolve() == Path(settings.folder).resolve()


Noted = TypeVar("Noted", bound=NotedBackup)


def _there(settings: Backup, record: Noted | None) -> Noted | None:
    """Return `record` with the path at which its archive is now, or None if the archive no longer exists.

    Look for the archive, by its name, in the backup folder of `settings`, because an installation can be moved
    together with its backups. Version 1.0.0 recorded relative paths. If the path is relative, also look at this
    path, and return the record even if the archive is not found.
    """
    if record is None:
        return None
    noted = Path(record.path)
    beside = Path(settings.folder).absolute() / noted.name
    known = [noted] if not noted.is_absolute() or is_in_folder(settings, record) else []
    there = next((str(each) for each in (*known, beside) if os.access(each, os.F_OK)), None)
    path = there if noted.is_absolute() else there or record.path
    return None if path is None else record.model_copy(update={"path": path})
