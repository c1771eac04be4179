"""Whether there is a backup to rely on."""

from typing import Final

from wmsd.app.backups.record import read_record
from wmsd.app.backups.verdict import REMEDY, verdict
from wmsd.app.diagnosis.finding import FindingKind, Found
from wmsd.app.diagnosis.situation import Situation

NO_BACKUP: Final = FindingKind(
    "no-backup",
    "warning",
    "There is no backup to rely on. {sentence}",
    REMEDY,
)
KINDS: Final = (NO_BACKUP,)


def look(at: Situation) -> Found:
    judged = verdict(at.settings.backup, read_record(at.data), at.now.astimezone())
    if not judged.ok:
        yield NO_BACKUP.of(sentence=judged.text)
