"""Detects another server that creates scheduled backups of this installation in the same folder.

If there is one, two machines serve copies of the same data, and each machine receives changes that the other does
not have.

The sign is an archive of another server between two archives of this server. If this happens once, the data may
only have been moved to another machine and back. If it happens twice in a row, another server certainly exists.
"""

from pathlib import Path
from typing import Final

from wmsd.maintenance.backups.archive import scheduled_archives
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import BackupRecord, OtherServer

TURNS: Final = 2
"""How many times in a row another server's archive must be between two archives of this server."""
SAYS: Final = (
    "Another server also creates scheduled backups of this installation, such as {archive}. Two "
    "machines serve copies of the same data, and each receives changes that the other does not have."
)
REMEDY: Final = (
    "Stop the server that should no longer run, and find out which changes only that server has. If one of "
    "the two servers is only for practice, give it its own backup.folder."
)


def other_server_of(record: BackupRecord) -> OtherServer | None:
    """Return the other server if it certainly exists. Otherwise return None."""
    other = record.other_server
    return other if other is not None and other.turns >= TURNS else None


def between(folder: BackupFolder, record: BackupRecord, previous: Path | None, made: Path) -> OtherServer | None:
    """Return the other server if it has created archives in `folder` between `previous` and `made`. Otherwise
    return None.

    `previous` and `made` are the last two backups of this server. Raise OSError if the folder cannot be read.
    """
    if previous is None or previous.parent.resolve() != made.parent.resolve() or record.made is None:
        return None
    between_own = [path for path in folder.archives() if previous.name < path.name < made.name]
    found = list(scheduled_archives(between_own, record.made.installation))
    if not found:
        return None
    turns = 0 if record.other_server is None else record.other_server.turns
    return OtherServer(archive=str(found[-1].absolute()), turns=turns + 1)
