"""The verdict on the latest backup, in words for people."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wmsd.base import timestamps
from wmsd.maintenance.backups.backup_verdict import backup_verdict, what_is_gone
from wmsd.maintenance.backups.last_runs import (
    FILE,
    BackupRecord,
    FailedBackup,
    MadeBackup,
    VerifiedBackup,
    change_record,
    read_record,
)
from wmsd.maintenance.backups.schedule import is_backup_due, is_proof_due_now
from wmsd.settings.sections.backup import Backup

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
AT_NIGHT = NOW.replace(hour=3, minute=12)


def record(
    made: datetime = AT_NIGHT, proven: datetime = AT_NIGHT, left_out: list[str] | None = None
) -> BackupRecord:
    return BackupRecord(
        made=MadeBackup(
            at=timestamps.to_text(made),
            path="a.tar.gz",
            bytes=1,
            seconds=1,
            installation="i",
            left_out=left_out or [],
        ),
        proven=VerifiedBackup(at=timestamps.to_text(proven), path="a.tar.gz", seconds=41.2),
    )


@pytest.mark.parametrize(
    ("found", "ok", "sentence"),
    [
        (record(), True, "the backup verified at 03:12 can be restored; the verification took 41 s"),
        (
            record(proven=AT_NIGHT - timedelta(days=1)),
            True,
            "the backup verified at 2026-11-22 03:12 can be restored; the verification took 41 s",
        ),
        (
            BackupRecord(),
            True,
            "there is no scheduled backup yet; the server creates the first backup about a minute after the "
            "server starts",
        ),
        (record().model_copy(update={"proven": None}), True, "the backup of 03:12 is not verified yet"),
        (
            record(made=AT_NIGHT - timedelta(days=2)),
            False,
            "no backup since 2026-11-21 03:12: see the log of the server",
        ),
        (
            record(proven=AT_NIGHT - timedelta(days=3)),
            False,
            "no backup was verified since 2026-11-20 03:12: see the log of the server",
        ),
        (record(left_out=["ACME"]), False, "the backup of 03:12 does not contain: ACME"),
        (
            record().model_copy(update={"failed": FailedBackup(at="2026-11-23T11:00:00.000Z", error="The disk.")}),
            False,
            "the last backup failed at 11:00: The disk.",
        ),
    ],
)
def test_the_verdict(found: BackupRecord, ok: bool, sentence: str) -> None:
    assert backup_verdict(Backup(), found, NOW) == (ok, sentence)


def test_what_the_proof_found() -> None:
    found = record()
    assert found.proven is not None
    bad = found.model_copy(update={"proven": found.proven.model_copy(update={"problems": ["ACME: damaged."]})})
    assert backup_verdict(Backup(), bad, NOW) == (False, "a.tar.gz cannot be restored completely: ACME: damaged.")


def test_without_a_schedule_nothing_is_missed() -> None:
    assert backup_verdict(Backup(every="never"), BackupRecord(), NOW).ok


def test_an_hourly_one_is_missed_sooner() -> None:
    early = record(made=NOW - timedelta(hours=4))
    assert backup_verdict(Backup(), early, NOW).ok
    assert not backup_verdict(Backup(every="hour"), early, NOW).ok


def test_the_record_is_kept(tmp_path: Path) -> None:
    change_record(tmp_path, lambda _: record())
    assert read_record(tmp_path) == record()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"made": {}}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert read_record(tmp_path) == BackupRecord()


def kept_in(folder: Path) -> BackupRecord:
    """Return the record of a proven backup whose archive exists."""
    folder.mkdir()
    archive = folder / "a.tar.gz"
    archive.write_bytes(b"1")
    found = record()
    assert found.made is not None
    assert found.proven is not None
    path = {"path": str(archive)}
    return BackupRecord(made=found.made.model_copy(update=path), proven=found.proven.model_copy(update=path))


def with_a_newer_one(found: BackupRecord, archive: Path) -> BackupRecord:
    archive.write_bytes(b"2")
    assert found.made is not None
    at = timestamps.to_text(NOW.replace(hour=9))
    return found.model_copy(update={"made": found.made.model_copy(update={"path": str(archive), "at": at})})


def test_a_proof_ends_with_the_archive_that_it_is_about(tmp_path: Path) -> None:
    folder, settings = tmp_path / "backups", Backup(folder=str(tmp_path / "backups"))
    found = kept_in(folder)
    assert backup_verdict(settings, found, NOW).ok
    folder.rename(tmp_path / "away")
    gone = f"the verified backup, a.tar.gz, is no longer in {folder}"
    assert backup_verdict(settings, found, NOW) == (False, gone)
    folder.mkdir()
    newer = with_a_newer_one(found, folder / "b.tar.gz")
    assert backup_verdict(settings, newer, NOW) == (False, f"{gone}, and the backup of 09:00 is not verified yet")
    assert is_proof_due_now(settings, newer)
    (folder / "b.tar.gz").unlink()
    unproven = newer.model_copy(update={"proven": None})
    assert backup_verdict(settings, unproven, NOW) == (
        False,
        f"the last backup, b.tar.gz, is no longer in {folder}",
    )
    assert is_backup_due(settings, unproven)


def test_a_proof_that_found_something_wrong_is_no_loss(tmp_path: Path) -> None:
    folder, settings = tmp_path / "backups", Backup(folder=str(tmp_path / "backups"))
    found = with_a_newer_one(kept_in(folder), folder / "b.tar.gz")
    assert found.proven is not None
    bad = found.model_copy(update={"proven": found.proven.model_copy(update={"problems": ["ACME: damaged."]})})
    assert not backup_verdict(settings, bad, NOW).ok
    (folder / "a.tar.gz").unlink()
    assert backup_verdict(settings, bad, NOW) == (True, "the backup of 09:00 is not verified yet")


def test_backups_that_moved_with_their_installation_are_there(tmp_path: Path) -> None:
    found = kept_in(tmp_path / "backups")
    (tmp_path / "backups").rename(tmp_path / "moved")
    assert backup_verdict(Backup(folder=str(tmp_path / "moved")), found, NOW).ok


def test_a_path_that_version_1_0_0_noted_says_nothing_elsewhere() -> None:
    """The schedule runs in the same directory as the server, so it does use the path."""
    assert backup_verdict(Backup(), record(), NOW).ok
    now = timestamps.to_text(datetime.now(UTC))
    found = record()
    assert found.made is not None
    assert found.proven is not None
    today = BackupRecord(
        made=found.made.model_copy(update={"at": now}), proven=found.proven.model_copy(update={"at": now})
    )
    assert (is_backup_due(Backup(), today), is_proof_due_now(Backup(), today)) == (True, True)


def test_the_verdict_is_about_the_folder_that_the_settings_name(tmp_path: Path) -> None:
    found, settings = kept_in(tmp_path / "old"), Backup(folder=str(tmp_path / "new"))
    expected = (
        f"the backup folder {tmp_path / 'new'} has no backup yet: the last backup, "
        f"a.tar.gz, was created in the folder {tmp_path / 'old'}"
    )
    assert backup_verdict(settings, found, NOW) == (False, expected)
    assert is_backup_due(settings, found)
    (tmp_path / "old").rename(tmp_path / "away")  # the disk is unplugged
    assert backup_verdict(settings, found, NOW) == (False, expected)
    assert what_is_gone(settings, found, NOW) is None


def test_an_old_folder_s_proof_says_nothing_of_a_backup_in_the_new_one(tmp_path: Path) -> None:
    found, settings = kept_in(tmp_path / "old"), Backup(folder=str(tmp_path / "new"))
    (tmp_path / "new").mkdir()
    newer = with_a_newer_one(found, tmp_path / "new" / "b.tar.gz")
    assert backup_verdict(settings, newer, NOW) == (True, "the backup of 09:00 is not verified yet")
    assert is_proof_due_now(settings, newer)


def test_a_folder_by_another_name_is_the_same(tmp_path: Path) -> None:
    found = kept_in(tmp_path / "old")
    (tmp_path / "link").symlink_to("old")
    assert backup_verdict(Backup(folder=str(tmp_path / "link")), found, NOW).ok
