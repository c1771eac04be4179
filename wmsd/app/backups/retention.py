"""Which scheduled backups are deleted, of those of one installation.

A backup that cannot be restored whole replaces none that can: otherwise a damage that nobody sees for weeks would
take the last good copy with it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from wmsd.app.backups.backup_folder import moment_of
from wmsd.app.backups.manifest import Manifest
from wmsd.app.backups.record import BackupRecord
from wmsd.app.backups.schedule import Keep, kept


def superseded(own: Mapping[Path, Manifest], record: BackupRecord, keep: Keep) -> list[Path]:
    """Those that others replace, the oldest first. Whatever `keep` says, the newest stays, the newest that was
    proven, and the newest with each company that others could not save.
    """
    moments = {path: moment.astimezone() for path in own if (moment := moment_of(path)) is not None}
    faulty = {moments[path] for path, manifest in own.items() if _is_faulty(manifest, record)}
    stay = kept(list(moments.values()), keep, faulty)
    last_copies = set(_last_copies(own, record))
    return sorted(path for path in own if moments[path] not in stay and path not in last_copies)


def _is_faulty(manifest: Manifest, record: BackupRecord) -> bool:
    return bool(manifest.left_out) or manifest.began_at in record.faulty


def _last_copies(own: Mapping[Path, Manifest], record: BackupRecord) -> Iterator[Path]:
    newest_first = sorted(own, reverse=True)
    yield from [path for path in newest_first if own[path].began_at in record.sound][:1]
    for company_id in {each.company_id for manifest in own.values() for each in manifest.left_out}:
        yield from [path for path in newest_first if own[path].has_company(company_id)][:1]
