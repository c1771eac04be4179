"""Which of the backups that the record tells of are in the folder that the settings name. It looks at the disk:
call it on a thread.
"""

import os
from pathlib import Path

from wmsd.maintenance.backups.last_runs import BackupRecord, MadeBackup, ProvenBackup
from wmsd.settings import Backup


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
