"""Which of the backups that the record tells of are in the folder that the settings name. It looks at the disk:
call it on a thread.
"""

from pathlib import Path
from typing import Final

from wmsd.app.backups.record import BackupRecord, MadeBackup, ProvenBackup
from wmsd.app.settings import Backup

DEFAULT: Final[str] = Backup.model_fields["folder"].default


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


def made_elsewhere(settings: Backup, record: BackupRecord) -> Path | None:
    """The path of the last scheduled backup, where the settings name another folder since."""
    path = None if record.made is None else Path(record.made.path)
    is_there = made_there(settings, record) is not None
    return None if path is None or is_there or is_in_folder(settings, path) else path


def is_in_folder(settings: Backup, archive: Path) -> bool:
    """Whether the path is one in the folder of the settings. A relative folder begins where the server was
    started, which only the paths that it has noted tell. Whoever has no settings, and no folder of the default's
    name here, has typed a command elsewhere, and knows nothing of the folder.
    """
    folder, above = Path(settings.folder), archive.absolute().parent
    if folder.is_absolute():
        return above.resolve() == folder.resolve()
    if settings.folder == DEFAULT and not folder.exists():
        return True
    return above.parts[len(above.parts) - len(folder.parts) :] == folder.parts


def _found(settings: Backup, path: str) -> str | None:
    """In the folder of the settings: where it was written, or by its name, for an installation may move with its
    backups. Version 1.0.0 has noted paths as its server saw them; elsewhere these say nothing, and count as there.
    """
    noted = Path(path)
    beside = Path(settings.folder).absolute() / noted.name
    known = [noted] if not noted.is_absolute() or is_in_folder(settings, noted) else []
    there = next((str(each) for each in (*known, beside) if each.exists()), None)
    return there if noted.is_absolute() else there or path
