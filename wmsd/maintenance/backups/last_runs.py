"""What came of the last scheduled backup and of the last proof, and which of the backups it names are still there.

It is kept in a file in the data folder, for health and status.
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
    """The archive."""


class MadeBackup(NotedBackup):
    bytes: int
    seconds: float
    installation: str
    directory: str | None = None
    """Where the first schedule ran that made a backup in this folder: by default, earlier versions made them in
    ./backups. Older records have none.
    """
    left_out: list[str] = []
    """The codes of companies whose files could not be read."""


class ProvenBackup(NotedBackup):
    """The proof says nothing of any other archive."""

    seconds: float
    directory: str | None = None
    """As that of the backup."""
    problems: list[str] = []
    keys: str = ""
    """How the keys are protected in it, in words. Older records do not say it."""


class FailedBackup(StoredModel):
    at: str
    error: str


class OtherServer(StoredModel):
    """Another server that makes scheduled backups of this installation into the same folder."""

    archive: str
    """The last one that came between two own backups."""
    turns: int
    """How many times in a row one did."""


class BackupRecord(StoredModel):
    """`failed` is None when the last attempt went well."""

    made: MadeBackup | None = None
    proven: ProvenBackup | None = None
    failed: FailedBackup | None = None
    sound: list[str] = []
    """When the archives were made that were proven without a problem: the newest proofs last."""
    faulty: list[str] = []
    """When those were made of which the proof found problems."""

    other_server: OtherServer | None = None
    """None when no archive of another server came between the last two own backups."""

    def with_finding(self, made_at: str, is_whole: bool | None) -> "BackupRecord":
        """Whether the archive that was made then can be restored whole, whatever was found before. None: that was
        not found out.
        """
        if is_whole is None:
            return self
        sound = [each for each in self.sound if each != made_at]
        faulty = [each for each in self.faulty if each != made_at]
        (sound if is_whole else faulty).append(made_at)
        return self.model_copy(update={"sound": sound[-MOST_NOTED:], "faulty": faulty[-MOST_NOTED:]})

    def there(self, settings: Backup) -> "BackupRecord":
        """With the last backup and the last proof only where there is what they are about, and with its present
        paths. The proof may have found something wrong. Looks at the disk: call it on a thread.
        """
        made, proven = _there(settings, self.made), _there(settings, self.proven)
        return self.model_copy(update={"made": made, "proven": proven})


def read_record(data: Path) -> BackupRecord:
    """An empty record when there is none that can be read."""
    return read_json_file(data / FILE, BackupRecord())


def change_record(data: Path, change: Callable[[BackupRecord], BackupRecord]) -> BackupRecord:
    """The record as it is now, changed and written: commands and the schedule may note something at once. Raises
    OSError.
    """
    with folder_lock(data):
        record = change(read_record(data))
        write_json_file(data / FILE, record)
    return record


def made_elsewhere(settings: Backup, record: BackupRecord) -> Path | None:
    """The path of the last scheduled backup, where the settings name another folder since."""
    made = record.made
    if made is None or record.there(settings).made is not None or is_in_folder(settings, made):
        return None
    return Path(made.path)


def is_hidden(archive: Path) -> bool:
    """Whether this user may not see if it is there."""
    try:
        archive.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def here() -> str | None:
    """The current directory; None where it was removed meanwhile."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def is_in_folder(settings: Backup, noted: NotedBackup) -> bool:
    """Whether the path is one in the folder of the settings."""
    return Path(noted.path).absolute().parent.resolve() == Path(settings.folder).resolve()


Noted = TypeVar("Noted", bound=NotedBackup)


def _there(settings: Backup, record: Noted | None) -> Noted | None:
    """In the folder of the settings: where it was written, or by its name, for an installation may move with its
    backups. Version 1.0.0 has noted paths as its server saw them; elsewhere these say nothing, and count as there.
    """
    if record is None:
        return None
    noted = Path(record.path)
    beside = Path(settings.folder).absolute() / noted.name
    known = [noted] if not noted.is_absolute() or is_in_folder(settings, record) else []
    there = next((str(each) for each in (*known, beside) if os.access(each, os.F_OK)), None)
    path = there if noted.is_absolute() else there or record.path
    return None if path is None else record.model_copy(update={"path": path})
