"""Whether there is a backup to rely on, and whether the next ones will be good for something."""

from pathlib import Path
from typing import Final

from wmsd.accounts import demo_link
from wmsd.app.backups.backup_folder import BackupFolder
from wmsd.app.backups.mounted import NOT_THERE, STAYING, missing_mount
from wmsd.app.backups.record import read_record
from wmsd.app.backups.verdict import REMEDY, verdict
from wmsd.app.diagnosis.finding import FindingKind, Found
from wmsd.app.diagnosis.named_files import is_for_server
from wmsd.app.diagnosis.situation import Situation
from wmsd.app.settings import INSIDE

NO_BACKUP: Final = FindingKind(
    "no-backup",
    "warning",
    "There is no backup to rely on. {sentence}",
    REMEDY,
)
NOT_MOUNTED: Final = FindingKind(
    "backup-disk-missing",
    "wrong",
    NOT_THERE,
    f"Mount it: no backup is made until then. {STAYING}",
)
IN_DATA: Final = FindingKind(
    "backups-in-data",
    "warning",
    "The folder of the backups, {file}, is in the data folder: what takes the data takes the backups too.",
    "Name a folder elsewhere in backup.folder, best on another disk, and move the archives there.",
)
KINDS: Final = (NO_BACKUP, NOT_MOUNTED, IN_DATA)


def look(at: Situation) -> Found:
    judged = verdict(at.settings.backup, read_record(at.data), at.now.astimezone())
    if not judged.ok:
        yield NO_BACKUP.of(sentence=judged.text)
    yield from look_before_start(at)


def _is_demo(at: Situation, folder: Path) -> bool:
    """Whether only a demo is here, whose backups are in its data folder so that one folder is the whole of it."""
    return folder == at.data.resolve() / INSIDE and set((at.codes or {}).values()) == {demo_link.CODE}


def look_before_start(at: Situation) -> Found:
    """At the folder that the settings name."""
    if not is_for_server(at):
        return
    folder = at.backups.resolve()
    if folder.is_relative_to(at.data.resolve()) and not _is_demo(at, folder):
        yield IN_DATA.of(at.backups)
    if mount := missing_mount(at.data, BackupFolder(at.backups)):
        yield NOT_MOUNTED.of(folder, mount=mount)
