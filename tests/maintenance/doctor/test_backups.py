"""The doctor reports a missing backup, and a backup folder that protects too little."""

import os
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import NOW, names, situation, told
from wmsd.base import timestamps
from wmsd.maintenance.backups.last_runs import BackupRecord, MadeBackup, VerifiedBackup, change_record
from wmsd.maintenance.doctor import backups
from wmsd.maintenance.doctor.findings import BEFORE_START, diagnose


def test_a_proven_backup_that_is_gone_is_told(data: Path) -> None:
    archive = data.parent / "backups" / "wmsd-2026-11-20T023000Z.tar.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"x")
    at, path = timestamps.to_text(NOW), str(archive)
    made = MadeBackup(at=at, path=path, bytes=1, seconds=1, installation="i")
    change_record(data, lambda _: BackupRecord(made=made, proven=VerifiedBackup(at=at, path=path, seconds=1)))
    assert names(diagnose(situation(data))) == []
    archive.rename(data.parent / "away")
    (finding,) = backups.findings(situation(data))
    assert (finding.kind.name, finding.sentence) == (
        "no-backup",
        f"There is no reliable backup. The verified backup, {archive.name}, is no longer in {archive.parent}.",
    )


@pytest.mark.parametrize("within", ["", "backups", "a/b"])
def test_backups_in_the_data_folder_are_warned_of(data: Path, within: str) -> None:
    at = situation(data, {"backup": {"folder": data / within}})
    for found in (diagnose(at), diagnose(at, groups=BEFORE_START)):
        assert told(found, "backups-in-data") == (
            f"The backup folder {data / within} is in the data folder: if the data is lost, the backups are "
            "lost too."
        )
        assert [each.is_wrong for each in found if each.kind is backups.IN_DATA] == [False]


def test_a_link_to_the_data_folder_is_followed(data: Path) -> None:
    (data.parent / "link").symlink_to(data)
    found = diagnose(situation(data, {"backup": {"folder": data.parent / "link" / "backups"}}))
    assert "backups-in-data" in names(found)


def test_a_folder_beside_the_data_is_good(data: Path) -> None:
    found = diagnose(situation(data, {"backup": {"folder": f"{data}-backups"}}))
    assert "backups-in-data" not in names(found)


def test_the_folder_of_others_is_not_judged(data: Path) -> None:
    """A user who examines the data of another user has different settings."""
    other = situation(data, {"backup": {"folder": "data/backups"}}, user=os.geteuid() + 1)
    assert "backups-in-data" not in names(backups.findings_before_start(other))
