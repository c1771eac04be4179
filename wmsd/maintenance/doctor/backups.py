"""Findings about backups: whether a reliable backup exists, and whether the next backups will be useful."""

from pathlib import Path
from typing import Final

from wmsd.contract.findings import FindingKind, Found
from wmsd.maintenance.backups import other_server
from wmsd.maintenance.backups.backup_verdict import REMEDY, backup_verdict
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import read_record
from wmsd.maintenance.backups.mounted_folders import NOT_THERE, STAYING, missing_mount
from wmsd.maintenance.doctor.settings_files import is_for_server
from wmsd.maintenance.doctor.situation import Situation
from wmsd.maintenance.keys.key_protection import (
    CHECK,
    CREATE,
    LOST,
    LOST_ON_PURPOSE,
    NOT_CHECKED,
    protection,
)
from wmsd.settings.paths import INSIDE
from wmsd.tenants.one_time_links.demo import DEMO_CODE

NO_BACKUP: Final = FindingKind(
    "no-backup",
    "warning",
    "There is no reliable backup. {sentence}",
    REMEDY,
)
NOT_MOUNTED: Final = FindingKind(
    "backup-disk-missing",
    "wrong",
    NOT_THERE,
    f"Mount the disk: wmsd creates no backup until then. {STAYING}",
)
IN_DATA: Final = FindingKind(
    "backups-in-data",
    "warning",
    "The backup folder {file} is in the data folder: if the data is lost, the backups are lost too.",
    "Name a folder outside the data folder in backup.folder, preferably on another disk, and move "
    "the archives there.",
)
TWO_SERVERS: Final = FindingKind("two-servers", "wrong", other_server.SAYS, other_server.REMEDY)
OF_KEYS: Final = {
    LOST: FindingKind("keys-not-in-backups", "warning", LOST, CREATE),
    LOST_ON_PURPOSE: FindingKind("recovery-phrase-declined", "warning", LOST_ON_PURPOSE, CREATE),
    NOT_CHECKED: FindingKind("recovery-phrase-not-checked", "warning", NOT_CHECKED, CHECK),
}
"""The kinds of findings about the protection of the keys. The dictionary's key is the `pattern` of a `Protection`.
"""
KINDS: Final = (NO_BACKUP, NOT_MOUNTED, IN_DATA, TWO_SERVERS, *OF_KEYS.values())


def findings(at: Situation) -> Found:
    record = read_record(at.data)
    judged = backup_verdict(at.settings.backup, record, at.now.astimezone())
    if not judged.ok:
        yield NO_BACKUP.of(sentence=judged.text)
    if (other := other_server.other_server_of(record)) is not None:
        yield TWO_SERVERS.of(archive=other.archive)
    if at.keys is not None:
        keys = protection(at.keys, at.settings.backup, record.made is not None)
        if keys.sentence:
            yield OF_KEYS[keys.pattern].of(None, **keys.facts)
    yield from findings_before_start(at)


def _is_demo(at: Situation, folder: Path) -> bool:
    """Return True if the installation is only a demo. The backups of a demo are in its data folder, so that one
    folder contains everything.
    """
    return folder == at.data.resolve() / INSIDE and set((at.codes or {}).values()) == {DEMO_CODE}


def findings_before_start(at: Situation) -> Found:
    """Find problems of the backup folder that the settings name."""
    if not is_for_server(at):
        return
    folder = at.backups.resolve()
    if folder.is_relative_to(at.data.resolve()) and not _is_demo(at, folder):
        yield IN_DATA.of(at.backups)
    if mount := missing_mount(at.data, BackupFolder(at.backups)):
        yield NOT_MOUNTED.of(folder, mount=mount)
