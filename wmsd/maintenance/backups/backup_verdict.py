"""Checks whether the scheduled backups are in order, and describes the result in a sentence."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.backup_schedule import LATE
from wmsd.maintenance.backups.last_runs import BackupRecord, is_hidden, is_in_folder, made_elsewhere
from wmsd.settings.sections.backup import Backup

PROOF_LATE: Final = timedelta(days=2)
REMEDY: Final = (
    "Fix the cause, or move the backup back if it was moved. Then run wmsd backup schedule --run "
    "--now: the command creates a backup, verifies it and reports any problem."
)
"""The advice if the installation has no backup that can be restored. Every message about this problem ends with
this advice.
"""


class Verdict(NamedTuple):
    ok: bool
    sentence: str

    @property
    def text(self) -> str:
        """The sentence with a capital letter and a full stop."""
        return f"{self.sentence[0].upper()}{self.sentence[1:].rstrip('.')}."


def backup_verdict(settings: Backup, record: BackupRecord, now: datetime) -> Verdict:
    """Check whether the scheduled backups are in order. Return the result with a sentence that describes it.

    Call this function on a thread, because it reads the disk. `now` is in the local time of the machine.
    """
    if settings.every == "never":
        return Verdict(True, "no backups are scheduled (backup.every)")
    there = record.there(settings)
    made, proven, failed = record.made, there.proven, record.failed
    if failed is not None:
        return Verdict(False, f"the last backup failed at {_shown(failed.at, now)}: {failed.error}")
    if made is None:
        return Verdict(
            True,
            "there is no scheduled backup yet; the server creates the first backup about a minute after the "
            "server starts",
        )
    if elsewhere := made_elsewhere(settings, record):
        return Verdict(
            False,
            f"the backup folder {settings.folder} has no backup yet: the last backup, {elsewhere.name}, was "
            "created "
            f"in the folder {elsewhere.parent}",
        )
    if there.made is None and is_hidden(Path(made.path)):
        return Verdict(False, f"this user has no permission to read the backup folder {Path(made.path).parent}")
    if gone := what_is_gone(settings, record, now):
        return Verdict(False, gone)
    if now - timestamps.from_text(made.at) > LATE[settings.every]:
        return Verdict(False, f"no backup since {_shown(made.at, now)}: see the log of the server")
    if made.left_out:
        return Verdict(False, f"the backup of {_shown(made.at, now)} does not contain: {', '.join(made.left_out)}")
    if proven is None:
        return Verdict(True, f"the backup of {_shown(made.at, now)} is not verified yet")
    if proven.problems:
        return Verdict(False, f"{proven.path} cannot be restored completely: {proven.problems[0]}")
    if now - timestamps.from_text(proven.at) > PROOF_LATE:
        return Verdict(False, f"no backup was verified since {_shown(proven.at, now)}: see the log of the server")
    return Verdict(
        True,
        f"the backup verified at {_shown(proven.at, now)} can be restored; the verification took "
        f"{proven.seconds:.0f} s",
    )


def what_is_gone(settings: Backup, record: BackupRecord, now: datetime) -> str | None:
    """Return a sentence if the last backup or the last verified backup no longer exists. Otherwise return None.

    A backup that was created outside the folder in `settings` is not reported as missing. A verified backup is not
    reported either if its verification found problems.
    """
    there, proven = record.there(settings), record.proven
    last = there.made
    was_good = proven is not None and not proven.problems and is_in_folder(settings, proven)
    if proven is not None and was_good and there.proven is None:
        new = "" if last is None else f", and the backup of {_shown(last.at, now)} is not verified yet"
        return f"the verified backup, {_missed(proven.path)}{new}"
    if record.made is not None and last is None and made_elsewhere(settings, record) is None:
        return f"the last backup, {_missed(record.made.path)}"
    return None


def _missed(path: str) -> str:
    return f"{Path(path).name}, is no longer in {Path(path).parent}"


def _shown(moment: str, now: datetime) -> str:
    """Return the time `moment` in the time zone of `now`. If both are on the same day, the form is `03:12`,
    otherwise `2026-11-22 03:12`.
    """
    local = timestamps.from_text(moment).astimezone(now.tzinfo)
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
