"""The existing backups, and the time of the next one. Call these functions on a thread."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.db.engine.failures import StorageError
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.backup_verdict import backup_verdict
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import BackupRecord, read_record
from wmsd.maintenance.backups.schedule import local_now, next_backup
from wmsd.platform.admin_view.health import of_replica, progress_of
from wmsd.platform.admin_view.schema import ArchiveShown, Proof, SealedPhrase
from wmsd.platform.admin_view.service import OversightService

MOST_SHOWN: Final = 60


def backups_as_json(service: OversightService, own: str) -> dict[str, Any]:
    """Return the backups as JSON.

    `own` is the id of this installation. The backup folder may also contain archives from different installations.
    """
    installation, scheduled = service.installation, service.started.backups
    settings, now = installation.settings.backup, local_now()
    record = read_record(installation.folder.path)
    folder = BackupFolder(Path(settings.folder))
    archives = folder.archives()[::-1]
    judged, next_at = backup_verdict(settings, record, now), next_backup(settings, record, now)
    is_running = scheduled is not None and scheduled.is_running
    return {
        "ok": judged.ok,
        "sentence": judged.text,
        "every": settings.every,
        "at": settings.at,
        "folder": str(folder.path.absolute()),
        "is_on_disk_of_data": folder.is_on_disk_of(installation.folder.path),
        "keep_hourly": settings.keep_hourly,
        "keep_daily": settings.keep_daily,
        "keep_weekly": settings.keep_weekly,
        "next_at": None if next_at is None else timestamps.to_text(next_at),
        "is_due": next_at is not None and next_at <= now,
        "can_begin": scheduled is not None,
        "is_running": is_running,
        "progress": progress_of(scheduled.progress) if scheduled is not None and is_running else None,
        "archives": [_archive(path, record, own).model_dump() for path in archives[:MOST_SHOWN]],
        "more": max(0, len(archives) - MOST_SHOWN),
        "replica": _replica(installation),
    }


def _archive(path: Path, record: BackupRecord, own: str) -> ArchiveShown:
    size = 0
    try:
        status = path.stat()
        size = status.st_size
        shown, began_at, installation = _content(path, size, status.st_mtime_ns)
    except (StorageError, OSError) as error:
        return ArchiveShown(name=path.name, bytes=size, proof="unreadable", why=" ".join(str(error).split()))
    last = record.proven if record.proven is not None and Path(record.proven.path).name == path.name else None
    is_wrong = (last is not None and bool(last.problems)) or began_at in record.faulty
    is_reliable = not is_wrong and began_at in record.sound
    proof: Proof = "wrong" if is_wrong else "proven" if is_reliable else "none"
    proven = {
        "proof": proof if installation == own else "another",
        "proven_at": None if last is None else last.at,
        "why": last.problems[0] if last is not None and last.problems else None,
    }
    return shown.model_copy(update=proven)


@lru_cache(maxsize=4 * MOST_SHOWN)
def _content(path: Path, size: int, changed: int) -> tuple[ArchiveShown, str, str]:
    """Return the content of an archive, the time when its creation began, and the id of its installation.

    All three are from the manifest. The result is cached by size and time of change. Archives do not change, and a
    large manifest takes long to read. Raise StorageError or OSError if the archive cannot be read.
    """
    from wmsd.maintenance.backups.archive import read_manifest  # imported only here: a start does not need it

    manifest = read_manifest(path)
    shown = ArchiveShown(
        name=path.name,
        made_at=manifest.began_at,
        bytes=size,
        companies=sum(file.company_id is not None for file in manifest.files),
        lacks=[each.code for each in manifest.left_out],
        keys=manifest.keys,
        phrases=[
            SealedPhrase(fingerprint=each.fingerprint, checked_at=each.checked_at) for each in manifest.phrases
        ],
        proof="none",
    )
    return shown, manifest.began_at, manifest.installation


def _replica(installation: Installation) -> dict[str, Any]:
    if not installation.settings.replica.enabled:
        return {
            "enabled": False,
            "ok": True,
            "sentence": ("Replication is off. The setting replica.enabled switches it on."),
        }
    ok, sentence = of_replica(installation)
    return {"enabled": True, "ok": ok, "sentence": sentence}
