"""What is due now: what the folder of the backups and the record say, put to the schedule."""

from datetime import UTC, datetime
from pathlib import Path

from wmsd.app.backups.record import BackupRecord, read_record
from wmsd.app.backups.schedule import is_due, is_proof_due, next_due
from wmsd.app.data_folder import DataFolder
from wmsd.app.settings import Backup
from wmsd.base import timestamps


def local_now() -> datetime:
    """By the clock of the box."""
    return datetime.now(UTC).astimezone()


def is_something_due(settings: Backup, data: DataFolder) -> bool:
    """Looks at the disk: call it on a thread."""
    record = read_record(data.path)
    return is_backup_due(settings, record) or is_proof_due_now(settings, record)


def is_backup_due(settings: Backup, record: BackupRecord) -> bool:
    """Only the last scheduled one counts: another installation may keep its backups in the same folder."""
    return is_due(settings.every, settings.time, local_now(), _made(record))


def next_backup(settings: Backup, record: BackupRecord, now: datetime) -> datetime | None:
    """When the next backup is due; None: never. `now` is by the box's clock."""
    return next_due(settings.every, settings.time, now, _made(record))


def _made(record: BackupRecord) -> list[datetime]:
    """When the last one was made, if it is still there."""
    made = record.made
    is_there = made is not None and Path(made.path).exists()
    return [timestamps.from_text(made.at).astimezone()] if made is not None and is_there else []


def is_proof_due_now(settings: Backup, record: BackupRecord) -> bool:
    proven = None if record.proven is None else timestamps.from_text(record.proven.at).astimezone()
    return is_proof_due(settings.every, settings.time, local_now(), proven)
