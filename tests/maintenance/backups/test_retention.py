"""The deletion of scheduled backups: a faulty backup never replaces one that can be restored."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from wmsd.base.backup_schedule import Keep
from wmsd.maintenance.backups.file_figures import Figures
from wmsd.maintenance.backups.folder import MOMENT
from wmsd.maintenance.backups.last_runs import BackupRecord, MadeBackup, VerifiedBackup
from wmsd.maintenance.backups.manifest import BackedUpFile, LeftOut, Manifest
from wmsd.maintenance.backups.retention import backups_to_delete

NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
LEAST = Keep(hourly=1, daily=1, weekly=1)
ONLY_THE_NEWEST = Keep(hourly=0, daily=0, weekly=0)


def at(moment: datetime) -> str:
    return moment.isoformat()


def archive(moment: datetime, *companies: int, left_out: tuple[int, ...] = ()) -> tuple[Path, Manifest]:
    manifest = Manifest(
        wmsd="1.1.0",
        installation="a",
        began_at=at(moment),
        seconds=1,
        keys="left out",
        files=[a_file(each) for each in companies],
        left_out=[LeftOut(company_id=each, code=f"C{each}", reason="malformed") for each in left_out],
    )
    return Path(f"wmsd-{moment:{MOMENT}}Z.tar.gz"), manifest


def a_file(company_id: int) -> BackedUpFile:
    return BackedUpFile(
        path=f"companies/{company_id}.db",
        company_id=company_id,
        code=f"C{company_id}",
        at=0,
        bytes=1,
        sha256="0" * 64,
        figures=Figures(schema_version=1, rows={}, sums={}),
    )


def days(*ago: int) -> list[datetime]:
    return [NOON - timedelta(days=each) for each in ago]


def test_the_last_one_with_a_company_stays_as_long_as_newer_ones_lack_it() -> None:
    (good, older), bad = days(60, 90), days(0, 1, 2)
    own = dict([archive(older, 1, 2), archive(good, 1, 2), *(archive(each, 1, left_out=(2,)) for each in bad)])
    deleted = backups_to_delete(own, BackupRecord(), ONLY_THE_NEWEST, NOON)
    assert set(own) - set(deleted) == {archive(good)[0], archive(bad[0])[0]}


def test_a_company_that_was_deleted_keeps_no_backup() -> None:
    own = dict([archive(days(60)[0], 1, 2), archive(NOON, 1)])
    assert backups_to_delete(own, BackupRecord(), ONLY_THE_NEWEST, NOON) == [archive(days(60)[0])[0]]


def test_the_last_one_that_was_proven_stays_as_long_as_newer_proofs_find_problems() -> None:
    good, bad = days(60)[0], days(0, 1, 2)
    own = dict(archive(each, 1) for each in (good, *bad))
    record = BackupRecord(sound=[at(good)], faulty=[at(each) for each in bad])
    assert set(own) - set(backups_to_delete(own, record, LEAST, NOON)) == {archive(good)[0], archive(bad[0])[0]}
    fixed = record.with_finding(at(bad[0]), True)
    assert set(own) - set(backups_to_delete(own, fixed, LEAST, NOON)) == {archive(bad[0])[0]}


def test_of_a_day_the_last_one_that_is_whole_stays() -> None:
    whole, lacks = NOON - timedelta(hours=5), NOON - timedelta(hours=4)
    own = dict([archive(whole, 1, 2), archive(lacks, 1, left_out=(2,)), archive(NOON, 1, left_out=(2,))])
    assert backups_to_delete(own, BackupRecord(), LEAST, NOON) == [archive(lacks)[0]]


def test_what_was_made_and_proven_last_stays_though_others_are_named_by_a_later_clock() -> None:
    """The latest proven backup stays even if others have a later name. If not, each minute would make and delete
    one.
    """
    later = [NOON + timedelta(days=400 + each) for each in range(40)]
    own = dict(archive(each, 1) for each in (NOON, *later))
    path, _ = archive(NOON)
    made = MadeBackup(at=at(NOON), path=f"/b/{path}", bytes=1, seconds=1, installation="a")
    record = BackupRecord(made=made, sound=[at(each) for each in (*later, NOON)])
    assert path not in backups_to_delete(own, record, LEAST, NOON)


def test_what_an_older_version_proved_stays() -> None:
    """Version 1.0.0 recorded only the latest proof."""
    good, newer = days(30)[0], days(0, 1)
    own = dict(archive(each, 1) for each in (good, *newer))
    path, _ = archive(good)
    record = BackupRecord(proven=VerifiedBackup(at=at(good), path=f"/b/{path}", seconds=1))
    assert path not in backups_to_delete(own, record, LEAST, NOON)
    wrong = BackupRecord(
        proven=VerifiedBackup(at=at(good), path=f"/b/{path}", seconds=1, problems=["C1: damaged."])
    )
    assert path in backups_to_delete(own, wrong, ONLY_THE_NEWEST, NOON)


def test_the_last_copy_of_a_company_is_one_without_a_fault_where_there_is_one() -> None:
    good, damaged, lacks = days(9, 5, 0)
    own = dict([archive(good, 1, 2), archive(damaged, 1, 2), archive(lacks, 1, left_out=(2,))])
    record = BackupRecord(faulty=[at(damaged)])
    assert backups_to_delete(own, record, ONLY_THE_NEWEST, NOON) == [archive(damaged)[0]]


def test_what_a_clock_that_was_ahead_has_named_takes_no_place_of_others() -> None:
    """Backups named by a clock that was ahead do not use up the number of days to keep."""
    ahead = [NOON + timedelta(days=3650 + each) for each in range(7)]
    week = days(*range(9))
    own = dict(archive(each, 1) for each in (*ahead, *week))
    deleted = backups_to_delete(own, BackupRecord(), Keep(hourly=0, daily=7, weekly=0), NOON)
    assert deleted == [archive(each)[0] for each in (week[8], week[7])]
