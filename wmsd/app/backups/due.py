"""What is due now: what the folder of the backups and the record say, put to the schedule."""

from datetime import UTC, datetime
from pathlib import Path

from wmsd.app.backups.backup_folder import BackupFolder, moment_of
from wmsd.app.backups.record import BackupRecord, read_record
from wmsd.app.backups.schedule import is_due, is_proof_due
from wmsd.app.data_folder import DataFolder
from wmsd.app.settings import Backup
from wmsd.base import timestamps


def local_now() -> datetime:
    """By the clock of the box."""
    return datetime.now(UTC).astimezone()


def is_something_due(settings: Backup, data: DataFolder) -> bool:
    """Looks at the disk: call it on a thread."""
    return is_backup_due(settings) or is_proof_due_now(settings, read_record(data.path))


def is_backup_due(settings: Backup) -> bool:
    archives = BackupFolder(Path(settings.folder)).archives()
    return is_due(settings.every, settings.time, local_now(), moments(archives).values())


def is_proof_due_now(settings: Backup, record: BackupRecord) -> bool:
    proven = None if record.proven is None else timestamps.from_text(record.proven.at).astimezone()
    return is_proof_due(settings.every, settings.time, local_now(), proven)


def moments(archives: list[Path]) -> dict[Path, datetime]:
    """When each was made, by its name."""
    return {path: moment.astimezone() for path in archives if (moment := moment_of(path)) is not None}
