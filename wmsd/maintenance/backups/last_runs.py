"""What came of the last scheduled backup and of the last proof, and which of the backups it names are still there.

It is kept in a file in the data folder, for health and status.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from wmsd.base.machine.folder_lock import folder_lock
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file
from wmsd.settings.sections.backup import Backup

FILE: Final = "backup.json"
MOST_NOTED: Final = 100


class MadeBackup(StoredModel):
    at: str
    path: str
    bytes: int
    seconds: float
    installation: str
    directory: str | None = None
    """Where the first schedule ran that made a backup in this folder: by default, earlier versions made them in
    ./backups. Older records have none.
    """
    left_out: list[str] = []
    """The codes of companies whose files could not be read."""


class ProvenBackup(StoredModel):
    at: str
    path: str
    """The archive: the proof says nothing of any other."""
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

    def with_proof(self, proven: ProvenBackup) -> "BackupRecord":
        return self.model_copy(update={"proven": proven})

    def with_finding(self, made_at: str, is_whole: bool | None) -> "BackupRecord":
        """Whether the archive that was made then can be restored whole. None: that was not found out."""
        if is_whole is None:
            return self
        return self.with_sound(made_at) if is_whole else self.with_faulty(made_at)

    def with_sound(self, made_at: str) -> "BackupRecord":
        """Also this archive is sound."""
        faulty = [each for each in self.faulty if each != made_at]
        return self.model_copy(update={"sound": _with(self.sound, made_at), "faulty": faulty})

    def with_faulty(self, made_at: str) -> "BackupRecord":
        """This archive cannot be restored whole, whatever was found before."""
        sound = [each for each in self.sound if each != made_at]
        return self.model_copy(update={"sound": sound, "faulty": _with(self.faulty, made_at)})


def _with(moments: list[str], moment: str) -> list[str]:
    return [*(each for each in moments if each != moment), moment][-MOST_NOTED:]


def read_record(data: Path) -> BackupRecord:
    """An empty record when there is none that can be read."""
    return read_json_file(data / FILE, BackupRecord())


def change_record(data: Path, change: Callable[[BackupRecord], BackupRecord]) -> BackupRecord:
    """The record as it is now, changed and written: commands and the schedule may note something at once. Raises
    OSError.
    """
    with folder_lock(data):
        record = change(read_record(data))
        write_record(data, record)
    return record


def write_record(data: Path, record: BackupRecord) -> None:
    """In the place of what is there. Raises OSError."""
    write_json_file(data / FILE, record)


def made_there(settings: Backup, record: BackupRecord) -> MadeBackup | None:
    """The last scheduled backup, with the path where it is."""
    made = record.made
    path = None if made is None else _found(settings, made)
    return None if made is None or path is None else made.model_copy(update={"path": path})


def proven_there(settings: Backup, record: BackupRecord) -> ProvenBackup | None:
    """The last proof, as long as there is what it is about. It may have found something wrong."""
    proven = record.proven
    path = None if proven is None else _found(settings, proven)
    return None if proven is None or path is None else proven.model_copy(update={"path": path})


def made_elsewhere(settings: Backup, record: BackupRecord) -> Path | None:
    """The path of the last scheduled backup, where the settings name another folder since."""
    made = record.made
    if made is None or made_there(settings, record) is not None or is_in_folder(settings, made):
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


def is_in_folder(settings: Backup, noted: MadeBackup | ProvenBackup) -> bool:
    """Whether the path is one in the folder of the settings."""
    return Path(noted.path).absolute().parent.resolve() == Path(settings.folder).resolve()


def _found(settings: Backup, record: MadeBackup | ProvenBackup) -> str | None:
    """In the folder of the settings: where it was written, or by its name, for an installation may move with its
    backups. Version 1.0.0 has noted paths as its server saw them; elsewhere these say nothing, and count as there.
    """
    noted = Path(record.path)
    beside = Path(settings.folder).absolute() / noted.name
    known = [noted] if not noted.is_absolute() or is_in_folder(settings, record) else []
    there = next((str(each) for each in (*known, beside) if os.access(each, os.F_OK)), None)
    return there if noted.is_absolute() else there or record.path
