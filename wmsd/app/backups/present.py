"""Which of the backups that the record tells of are in the folder that the settings name. It looks at the disk:
call it on a thread.
"""

import os
from pathlib import Path
from typing import Final

from wmsd.app.backups.record import BackupRecord, MadeBackup, ProvenBackup
from wmsd.app.settings import Backup

DEFAULT: Final[str] = Backup.model_fields["folder"].default


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


def from_here(settings: Backup) -> Backup:
    """For the server and its schedule: a relative folder begins where they run."""
    return settings.model_copy(update={"folder": str(Path(settings.folder).absolute())})


def is_in_folder(settings: Backup, noted: MadeBackup | ProvenBackup) -> bool:
    """Whether the path is one in the folder of the settings. A command may be typed elsewhere than where the
    server was started, and without its settings: then it knows nothing of the folder.
    """
    folder, above = Path(settings.folder), Path(noted.path).absolute().parent
    if folder.is_absolute():
        return above.resolve() == folder.resolve()
    if noted.directory is None:
        return _ends_as(folder, above)
    directory = Path(noted.directory)
    if "folder" not in settings.model_fields_set and str(directory.resolve()) != here():
        return True
    return above.resolve() == (directory / folder).resolve()


def _ends_as(folder: Path, above: Path) -> bool:
    """Of an older record, as far as it tells."""
    if folder == Path(DEFAULT) and not folder.exists():
        return True
    return above.parts[len(above.parts) - len(folder.parts) :] == folder.parts


def _found(settings: Backup, record: MadeBackup | ProvenBackup) -> str | None:
    """In the folder of the settings: where it was written, or by its name, for an installation may move with its
    backups. Version 1.0.0 has noted paths as its server saw them; elsewhere these say nothing, and count as there.
    """
    noted = Path(record.path)
    beside = Path(settings.folder).absolute() / noted.name
    known = [noted] if not noted.is_absolute() or is_in_folder(settings, record) else []
    there = next((str(each) for each in (*known, beside) if os.access(each, os.F_OK)), None)
    return there if noted.is_absolute() else there or record.path
