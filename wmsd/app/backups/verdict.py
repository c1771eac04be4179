"""Whether the installation has a backup that can be restored, in a sentence."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from wmsd.app.backups.record import BackupRecord
from wmsd.app.backups.schedule import LATE
from wmsd.app.settings import Backup
from wmsd.base import timestamps

PROOF_LATE: Final = timedelta(days=2)


class Verdict(NamedTuple):
    ok: bool
    sentence: str


def verdict(settings: Backup, record: BackupRecord, now: datetime) -> Verdict:
    """Of the scheduled backups. `now` is by the box's clock."""
    if settings.every == "never":
        return Verdict(True, "no backups are scheduled (backup.every)")
    made, proven, failed = record.made, record.proven, record.failed
    if failed is not None:
        return Verdict(False, f"the last backup failed at {_shown(failed.at, now)}: {failed.error}")
    if made is None:
        return Verdict(True, "no scheduled backup yet: a server that runs makes the first one soon")
    if now - timestamps.from_text(made.at) > LATE[settings.every]:
        return Verdict(False, f"no backup since {_shown(made.at, now)}: see the log of the server")
    if made.left_out:
        return Verdict(False, f"the backup of {_shown(made.at, now)} lacks {', '.join(made.left_out)}")
    if proven is None:
        return Verdict(True, f"a backup of {_shown(made.at, now)}, not proven yet")
    if proven.problems:
        return Verdict(False, f"{proven.path} cannot be restored whole: {proven.problems[0]}")
    if now - timestamps.from_text(proven.at) > PROOF_LATE:
        return Verdict(False, f"no backup was proven since {_shown(proven.at, now)}: see the log of the server")
    return Verdict(True, f"restorable, proven {_shown(proven.at, now)}, {proven.seconds:.0f} s")


def _shown(moment: str, now: datetime) -> str:
    """`03:12` on the same day, else `2026-11-22 03:12`, by the clock of `now`."""
    local = timestamps.from_text(moment).astimezone(now.tzinfo)
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
