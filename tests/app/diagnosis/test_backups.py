"""Whether the doctor tells of a backup that is gone."""

from pathlib import Path

from tests.app.diagnosis.scene import NOW, names, situation
from wmsd.app.backups.record import BackupRecord, MadeBackup, ProvenBackup, write_record
from wmsd.app.diagnosis import backups
from wmsd.app.diagnosis.diagnose import diagnose
from wmsd.base import timestamps


def test_a_proven_backup_that_is_gone_is_told(data: Path) -> None:
    archive = data.parent / "backups" / "wmsd-2026-11-20T023000Z.tar.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"x")
    at, path = timestamps.to_text(NOW), str(archive)
    made = MadeBackup(at=at, path=path, bytes=1, seconds=1, installation="i")
    write_record(data, BackupRecord(made=made, proven=ProvenBackup(at=at, path=path, seconds=1)))
    assert names(diagnose(situation(data))) == []
    archive.rename(data.parent / "away")
    (finding,) = backups.look(situation(data))
    assert (finding.kind.name, finding.sentence) == (
        "no-backup",
        f"There is no backup to rely on. The backup that was proven, {archive.name}, is not in {archive.parent} "
        "any more.",
    )
