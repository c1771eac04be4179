"""Chooses which scheduled backups of one installation to delete.

A newer backup that cannot be restored completely does not replace a good backup. So the last good backup stays,
even if nobody notices the damage of newer backups for weeks.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from wmsd.base.backup_schedule import Keep, backups_to_keep
from wmsd.maintenance.backups.folder import is_of_future, moment_of
from wmsd.maintenance.backups.last_runs import BackupRecord
from wmsd.maintenance.backups.manifest import Manifest


def backups_to_delete(own: Mapping[Path, Manifest], record: BackupRecord, keep: Keep, now: datetime) -> list[Path]:
    """Return the backups that can be deleted because newer backups replace them, the oldest first.

    `own` are the scheduled backups of this installation. `keep` says how many hourly, daily and weekly backups to
    keep.

    In addition, these backups stay: the one with the latest time in its name, the one that was created last, and
    the one that was last verified without problems. The first two can differ if the clock was set back. If a
    backup could not save a company, the newest backup with this company stays. Backups with a time in the future
    stay too, but they replace no other backup.
    """
    moments = {
        path: moment.astimezone()
        for path in own
        if (moment := moment_of(path)) is not None and not is_of_future(path, now)
    }
    faulty = {
        moment for path, moment in moments.items() if own[path].left_out or own[path].began_at in record.faulty
    }
    stay = backups_to_keep(list(moments.values()), keep, faulty)
    last_copies = set(_last_copies(own, record))
    return sorted(path for path, moment in moments.items() if moment not in stay and path not in last_copies)


def _last_copies(own: Mapping[Path, Manifest], record: BackupRecord) -> Iterator[Path]:
    """Yield the backups that must stay, whatever the settings say.

    The last verified backup is the one with the latest verification. Other backups may have a later time in their
    names, because the clock may have been set back.
    """
    proven = record.proven if record.proven and not record.proven.problems else None
    noted = {Path(each.path).name for each in (record.made, proven) if each}
    yield from (path for path in own if path.name in noted)
    by_moment = {manifest.began_at: path for path, manifest in own.items()}
    yield from [by_moment[each] for each in reversed(record.sound) if each in by_moment][:1]
    whole_first = sorted(sorted(own, reverse=True), key=lambda path: own[path].began_at in record.faulty)
    for company_id in {each.company_id for manifest in own.values() for each in manifest.left_out}:
        yield from [path for path in whole_first if own[path].has_company(company_id)][:1]
