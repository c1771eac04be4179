"""What is due now: what the folder of the backups and the record say, put to the schedule."""

import os
from datetime import UTC, datetime

from wmsd.base import timestamps
from wmsd.base.backup_schedule import is_due, is_proof_due, next_due
from wmsd.data_folder.folder import DataFolder
from wmsd.maintenance.backups.last_runs import BackupRecord, NotedBackup, read_record
from wmsd.settings.sections.backup import Backup


def local_now() -> datetime:
    """By the clock of the box."""
    return datetime.now(UTC).astimezone()


def is_something_due(settings: Backup, data: DataFolder) -> bool:
    """Looks at the disk: call it on a thread."""
    record = read_record(data.path)
    return is_backup_due(settings, record) or is_proof_due_now(settings, record)


def is_backup_due(settings: Backup, record: BackupRecord) -> bool:
    """Only the last scheduled one counts: another installation may keep its backups in the same folder."""
    return is_due(settings.every, settings.time, local_now(), _made(settings, record))


def next_backup(settings: Backup, record: BackupRecord, now: datetime) -> datetime | None:
    """When the next backup is due; None: never. `now` is by the box's clock."""
    return next_due(settings.every, settings.time, now, _made(settings, record))


def _made(settings: Backup, record: BackupRecord) -> list[datetime]:
    """When the last one was made, if it is still there."""
    moment = _moment_of(record.there(settings).made)
    return [] if moment is None else [moment]


def is_proof_due_now(settings: Backup, record: BackupRecord) -> bool:
    """Once a day, and when the one that was proven is gone."""
    return is_proof_due(settings.every, settings.time, local_now(), _moment_of(record.there(settings).proven))


def _moment_of(noted: NotedBackup | None) -> datetime | None:
    """None where the archive is not seen, also at a path of version 1.0.0: the schedule runs where the server
    does, and one more backup is no harm.
    """
    is_seen = noted is not None and os.access(noted.path, os.F_OK)
    return timestamps.from_text(noted.at).astimezone() if noted is not None and is_seen else None
