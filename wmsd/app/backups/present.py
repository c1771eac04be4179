"""Which of the backups that the record tells of are still there. It looks at the disk: call it on a thread."""

from pathlib import Path

from wmsd.app.backups.record import BackupRecord, MadeBackup, ProvenBackup
from wmsd.app.settings import Backup


def made_there(settings: Backup, record: BackupRecord) -> MadeBackup | None:
    """The last scheduled backup, with the path where it is."""
    made = record.made
    path = None if made is None else _found(settings, made.path)
    return None if made is None or path is None else made.model_copy(update={"path": path})


def proven_there(settings: Backup, record: BackupRecord) -> ProvenBackup | None:
    """The last proof, as long as there is what it is about. It may have found something wrong."""
    proven = record.proven
    path = None if proven is None else _found(settings, proven.path)
    return None if proven is None or path is None else proven.model_copy(update={"path": path})


def _found(settings: Backup, path: str) -> str | None:
    """Where it was written, or in the folder of the settings: an installation may move with its backups. Version
    1.0.0 has noted paths as its server saw them; elsewhere these say nothing, and count as there.
    """
    noted = Path(path)
    beside = Path(settings.folder).absolute() / noted.name
    there = next((str(each) for each in (noted, beside) if each.exists()), None)
    return there if noted.is_absolute() else there or path
