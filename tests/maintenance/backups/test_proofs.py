"""The proof of an archive: a problem outside the archive says nothing about the archive."""

import os
import resource
import threading
import time
from pathlib import Path

import pytest

from tests.support.backups import PASSPHRASE, back_up
from tests.support.command import Home, first_day
from tests.support.forked import LONGEST
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.archive import MEMBER_HEAD
from wmsd.maintenance.backups.last_runs import BackupRecord, read_record
from wmsd.maintenance.backups.unpack import NotWritten
from wmsd.maintenance.backups.verify import prove

DAILY = {"WMSD_BACKUP_EVERY": "day"}
NOT_WHOLE = "cannot be restored completely"


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def scheduled(home: Home, **env: str) -> Path:
    """Run a scheduled backup, and return its proven archive."""
    home.ok("backup", "schedule", "--run", "--now", env={**DAILY, **env})
    made = read_record(home.data).made
    assert made is not None
    return Path(made.path)


def test_another_passphrase_says_nothing_of_the_archive(installation: Home) -> None:
    """A wrong passphrase does not mark an archive as damaged: the schedule would otherwise delete the archive."""
    own, other = (installation.write(name, f"{name} {PASSPHRASE}\n") for name in ("own", "other"))
    archive = scheduled(installation, WMSD_BACKUP_PASSPHRASE_FILE=str(own))
    known = read_record(installation.data)
    assert known.sound != []
    done = installation.run("backup", "verify", archive, "--passphrase-file", other)
    assert (done.code, NOT_WHOLE in done.out) == (1, False)
    assert "can be restored, except for its secrets" in done.out
    assert "are not encrypted with this passphrase" in done.err
    assert read_record(installation.data) == known


def test_a_schedule_with_another_passphrase_leaves_what_was_found_before(installation: Home) -> None:
    own, other = (installation.write(name, f"{name} {PASSPHRASE}\n") for name in ("own", "other"))
    archive = scheduled(installation, WMSD_BACKUP_PASSPHRASE_FILE=str(own))
    known = read_record(installation.data)
    proof = prove(archive, installation.data, other.read_text(encoding="utf-8").strip(), lambda progress: None)
    assert (proof.is_whole, len(proof.problems)) == (None, 1)
    assert known.with_finding(proof.manifest.began_at, proof.is_whole) == known


def test_a_disk_that_takes_no_unpacked_file_says_nothing_of_the_archive(
    installation: Home, tmp_path: Path
) -> None:
    archive = back_up(installation)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(NotWritten, match=r"platform\.db of .* cannot be unpacked to .*: file too large"):
            prove(archive, tmp_path, None, lambda progress: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert prove(archive, tmp_path, None, lambda progress: None).is_whole


def test_what_is_found_while_the_schedule_is_at_work_is_not_forgotten(installation: Home) -> None:
    waits = f"while [ ! -e {installation.folder}/go ]; do sleep 0.1; done"
    command = ("backup", "schedule", "--run", "--now")
    working = threading.Thread(
        target=installation.run, args=command, kwargs={"env": {**DAILY, "WMSD_BACKUP_AFTER": waits}}
    )
    working.start()
    until = time.monotonic() + LONGEST
    while read_record(installation.data).proven is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    [archive] = (installation.folder / "data-backups").glob("*.tar.gz")
    archive.write_bytes(archive.read_bytes().replace(MEMBER_HEAD, bytes(4), 1))
    assert NOT_WHOLE in installation.run("backup", "verify", archive).out
    found = read_record(installation.data)
    installation.write("go", "")
    working.join()
    assert read_record(installation.data).faulty == found.faulty != []
    assert f"{archive} cannot be restored completely" in installation.run("backup", "schedule", env=DAILY).out


def test_what_a_clock_that_was_ahead_has_named_is_not_the_newest(installation: Home) -> None:
    archive = back_up(installation)
    later = archive.with_name("wmsd-2099-01-01T000000Z.tar.gz")
    os.link(archive, later)
    assert installation.ok("backup", "verify", "--json").json["backup"].endswith(archive.name)
    (installation.data / "companies" / "1.db").write_bytes(b"no file of SQLite, but something else")
    report = installation.run("doctor")
    assert archive.name in report.out
    assert later.name not in report.out


def test_what_is_no_file_is_no_archive(installation: Home) -> None:
    """Opening a FIFO would block for ever."""
    archive = back_up(installation)
    os.mkfifo(archive.with_name("wmsd-2026-01-01T000000Z.tar.gz"))
    listed = installation.ok("backup", "list", "--json").json
    assert [each["backup"] for each in listed] == [archive.name]


def test_an_archive_that_cannot_be_read_is_not_judged(tmp_path: Path) -> None:
    folder = tmp_path / "wmsd-2026-01-01T000000Z.tar.gz"
    folder.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        prove(folder, tmp_path, None, lambda progress: None)
    assert BackupRecord().with_finding("2026-01-01T00:00:00Z", None) == BackupRecord()
