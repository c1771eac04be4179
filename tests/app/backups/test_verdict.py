"""Whether there is a backup that can be relied on, in the words for people."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wmsd.app.backups.record import (
    FILE,
    BackupRecord,
    FailedBackup,
    MadeBackup,
    ProvenBackup,
    read_record,
    write_record,
)
from wmsd.app.backups.verdict import verdict
from wmsd.app.settings import Backup
from wmsd.base import timestamps

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
        proven=ProvenBackup(at=timestamps.to_text(proven), path="a.tar.gz", seconds=41.2),
    )


@pytest.mark.parametrize(
    ("found", "ok", "sentence"),
    [
        (record(), True, "restorable, proven 03:12, 41 s"),
        (BackupRecord(), True, "no scheduled backup yet: a server that runs makes the first one soon"),
        (record().model_copy(update={"proven": None}), True, "a backup of 03:12, not proven yet"),
        (
            record(made=AT_NIGHT - timedelta(days=2)),
            False,
            "no backup since 2026-11-21 03:12: see the log of the server",
        ),
        (
            record(proven=AT_NIGHT - timedelta(days=3)),
            False,
            "no backup was proven since 2026-11-20 03:12: see the log of the server",
        ),
        (record(left_out=["ACME"]), False, "the backup of 03:12 lacks ACME"),
        (
            record().model_copy(update={"failed": FailedBackup(at="2026-11-23T11:00:00.000Z", error="The disk.")}),
            False,
            "the last backup failed at 11:00: The disk.",
        ),
    ],
)
def test_the_verdict(found: BackupRecord, ok: bool, sentence: str) -> None:
    assert verdict(Backup(), found, NOW) == (ok, sentence)


def test_what_the_proof_found() -> None:
    found = record()
    assert found.proven is not None
    bad = found.model_copy(update={"proven": found.proven.model_copy(update={"problems": ["ACME: damaged."]})})
    assert verdict(Backup(), bad, NOW) == (False, "a.tar.gz cannot be restored whole: ACME: damaged.")


def test_without_a_schedule_nothing_is_missed() -> None:
    assert verdict(Backup(every="never"), BackupRecord(), NOW).ok


def test_an_hourly_one_is_missed_sooner() -> None:
    early = record(made=NOW - timedelta(hours=4))
    assert verdict(Backup(), early, NOW).ok
    assert not verdict(Backup(every="hour"), early, NOW).ok


def test_the_record_is_kept(tmp_path: Path) -> None:
    write_record(tmp_path, record())
    assert read_record(tmp_path) == record()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"made": {}}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert read_record(tmp_path) == BackupRecord()
