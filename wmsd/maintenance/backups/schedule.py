"""Finds out which backup work is due now. This depends on the schedule, the backup folder and the record of the
last runs.
"""

import os
from datetime import UTC, datetime

from wmsd.base import timestamps
from wmsd.base.backup_schedule import is_due, is_proof_due, next_due
from wmsd.data_folder.folder import DataFolder
from wmsd.maintenance.backups.last_runs import BackupRecord, NotedBackup, read_record
from wmsd.settings.sections.backup import Backup


def local_now() -> datetime:
    """Return the current local time of the machine."""
    return datetime.now(UTC).astimezone()


def is_something_due(settings: Backup, data: DataFolder) -> bool:
    """Return True if a backup or a verification is due. Call this function on a thread, because it reads the
    disk.
    """
    record = read_record(data.path)
    return is_backup_due(settings, record) or is_proof_due_now(settings, record)


def is_backup_due(settings: Backup, record: BackupRecord) -> bool:
    """Return True if a backup is due. Only the last scheduled backup in `record` counts, because other backups in
    the folder may come from other installations.
    """
    return is_due(settings.every, settings.time, local_now(), _made(settings, record))


def next_backup(settings: Backup, record: BackupRecord, now: datetime) -> datetime | None:
    """Return when the next backup is due, or None if the settings schedule no backups. `now` is in the local time
    of the machine.
    """
    return next_due(settings.every, settings.time, now, _made(settings, record))


def _made(settings: Backup, record: BackupRecord) -> list[datetime]:
    """Return a list with the time of the last scheduled backup, or an empty list if this backup no longer
    exists.
    """
    moment = _moment_of(record.there(settings).made)
    return [] if moment is None else [moment]


def is_proof_due_now(settings: Backup, record: BackupRecord) -> bool:
    """Return True if no backup was verified today, or if the verified backup has disappeared."""
    return is_proof_due(settings.every, settings.time, local_now(), _moment_of(record.there(settings).proven))


def _moment_of(noted: NotedBackup | None) -> datetime | None:
    """Return the time of the backup, or None if its archive is not at the recorded path.

    Version 1.0.0 recorded relative paths. If the server now runs in another directory, it does not find these
    archives. In this case, the schedule creates one additional backup.
    """
    is_seen = noted is not None and os.access(noted.path, os.F_OK)
    return timestamps.from_text(noted.at).astimezone() if noted is not None and is_seen else None
