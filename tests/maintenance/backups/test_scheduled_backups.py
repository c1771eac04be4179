"""The backups that the server makes automatically."""

import asyncio
import json
import logging
import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.backups import back_up
from tests.support.command import Home, first_day, made_on_first_day
from tests.support.forked import ROOT
from tests.support.steering import SteeredClock
from wmsd.data_folder.folder import DataFolder
from wmsd.maintenance.backups.last_runs import change_record, read_record
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.settings.sections.backup import Backup

DAILY = {"WMSD_BACKUP_EVERY": "day"}
LEAST = {f"WMSD_BACKUP_KEEP_{each}": "0" for each in ("HOURLY", "DAILY", "WEEKLY")}


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("recovery-phrase", "decline", "--yes")  # no decision is open any more
    return home


def run(home: Home, **env: str) -> None:
    home.ok("backup", "schedule", "--run", env={**DAILY, **env})


def names(home: Home) -> list[str]:
    return sorted(path.name for path in (home.folder / "data-backups").glob("*.tar.gz"))


def renamed(archive: Path, age: timedelta) -> Path:
    """Copy the archive under the name of a backup that is `age` old."""
    moment = datetime.now(UTC) - age
    return Path(shutil.copy(archive, archive.with_name(f"wmsd-{moment:%Y-%m-%dT%H%M%S}Z.tar.gz")))


def test_a_backup_is_made_and_proven_once_a_day(installation: Home) -> None:
    for _ in range(2):
        run(installation)
    assert len(names(installation)) == 1
    record = read_record(installation.data)
    assert record.made is not None
    assert record.proven is not None
    assert record.proven.problems == []
    assert record.failed is None


def test_one_more_is_made_and_proven_when_somebody_asks(installation: Home) -> None:
    run(installation)
    first = read_record(installation.data)
    time.sleep(1)  # archive names have a resolution of one second
    done = installation.ok("backup", "schedule", "--run", "--now", "--progress", env=DAILY)
    second = read_record(installation.data)
    assert first.made is not None
    assert second.made is not None
    assert second.proven is not None
    assert (second.made.path != first.made.path, second.proven.path, second.proven.problems) == (
        True,
        second.made.path,
        [],
    )
    progress = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    assert {each["doing"] for each in progress} == {"copying", "proving"}
    assert {"platform.db", "ACME"} <= {each["name"] for each in progress}
    assert all(0 <= each["done"] <= each["all"] for each in progress)
    refused = installation.run("backup", "schedule", "--now")
    assert (refused.code, "Use --now only with --run" in refused.err) == (2, True)


def test_what_is_shown(installation: Home) -> None:
    run(installation)
    shown = installation.ok("backup", "schedule", "--json", env=DAILY).json
    folder = str(installation.folder / "data-backups")
    assert (shown["every"], shown["at"], shown["folder"], shown["backups"]) == ("day", "02:30", folder, 1)
    assert (shown["ok"], shown["on_disk_of_data"]) == (True, True)
    assert shown["verdict"].startswith("the backup verified at ")
    elsewhere = Home(installation.program, installation.folder.parent)
    status = elsewhere.run("status", "--json", "--data", installation.data, env=DAILY).json
    assert (status["ok"], status["backup folder"].split(",")[0]) == (
        True,
        str(installation.folder / "data-backups"),
    )


def test_beside_a_server_and_in_its_health(installation: Home) -> None:
    with installation.serving(env=DAILY) as server:
        none_yet = {"ok": True, "made_at": None, "proven_at": None}
        assert server.get("/api/health")[1]["checks"]["backup"] == none_yet
        run(installation)
        check = server.get("/api/health")[1]["checks"]["backup"]
        assert check["ok"] is True
        assert None not in (check["made_at"], check["proven_at"])
        assert server.get("/api/health", token="")[1]["checks"]["backup"] == {"ok": True}


def test_a_failure_is_said_and_degrades(installation: Home) -> None:
    installation.write("data-backups", "a file where the folder should be")
    done = installation.run("backup", "schedule", "--run", env=DAILY)
    assert done.code == 1
    assert f"The backup folder {installation.folder / 'data-backups'} cannot be written" in done.err
    with installation.serving(env=DAILY) as server:
        status, body = server.get("/api/health")
        assert (status, body["status"]) == (200, "degraded")
        assert body["checks"]["backup"]["degraded"] is True
        assert "/" not in str(body["checks"]["backup"])
    (installation.folder / "data-backups").unlink()
    run(installation)
    assert read_record(installation.data).failed is None


def test_old_ones_are_deleted_and_others_stay(installation: Home) -> None:
    by_hand = renamed(back_up(installation), timedelta(days=20, hours=1))
    time.sleep(1.1)  # archive names have a resolution of one second
    run(installation)
    first = installation.folder / "data-backups" / names(installation)[-1]
    days = [renamed(first, timedelta(days=each)).name for each in range(1, 60)]
    first.unlink()
    strange = installation.write("data-backups/mine.tar.gz", "precious")
    cut = installation.write("data-backups/wmsd-2020-01-01T000000Z.tar.gz", "cut short")
    time.sleep(1.1)
    keep = {"WMSD_BACKUP_KEEP_HOURLY": "1", "WMSD_BACKUP_KEEP_DAILY": "3", "WMSD_BACKUP_KEEP_WEEKLY": "0"}
    installation.ok("backup", "schedule", "--run", "--now", env={**DAILY, **keep})
    assert len(set(names(installation)) & set(days)) == 2
    assert strange.exists()
    assert cut.exists()
    assert by_hand.exists()


def test_the_last_good_copy_of_a_company_outlives_every_backup_without_it(installation: Home) -> None:
    """The last good copy of a company stays, however many backups without the company are made later."""
    file = installation.data / "companies" / "1.db"
    run(installation, **LEAST)
    [good] = names(installation)
    file.rename(installation.folder / "lost.db")
    for _ in range(3):
        time.sleep(1.1)  # archive names have a resolution of one second
        done = installation.run("backup", "schedule", "--run", "--now", env={**DAILY, **LEAST})
        assert (done.code, "ACME is not in the backup" in done.err) == (1, True)
    assert [names(installation)[0], len(names(installation))] == [good, 2]
    installation.ok("backup", "restore", installation.folder / "data-backups" / good, "--company", "ACME", "--yes")
    time.sleep(1.1)
    installation.ok("backup", "schedule", "--run", "--now", env={**DAILY, **LEAST})
    assert good not in names(installation), "a newer one has all of it"


def test_another_installation_s_backups_are_not_deleted(installation: Home, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = made_on_first_day(Home(installation.program, tmp_path / "other"))
    foreign = back_up(other)
    (installation.folder / "data-backups").mkdir()
    old = [foreign, *(renamed(foreign, timedelta(days=each)) for each in (30, 40))]
    there = [Path(shutil.copy(each, installation.folder / "data-backups")) for each in old]
    time.sleep(1.1)  # archive names have a resolution of one second
    run(installation, WMSD_BACKUP_KEEP_DAILY="1", WMSD_BACKUP_KEEP_WEEKLY="0", WMSD_BACKUP_KEEP_HOURLY="0")
    assert all(each.exists() for each in there)
    assert len(names(installation)) == len(there) + 1


def test_a_passphrase_file_that_is_gone_is_a_failure(installation: Home) -> None:
    done = installation.run(
        "backup", "schedule", "--run", env={**DAILY, "WMSD_BACKUP_PASSPHRASE_FILE": "/nowhere/words"}
    )
    assert done.code == 1
    record = read_record(installation.data)
    assert record.failed is not None
    assert record.failed.error.startswith("The passphrase file /nowhere/words cannot be read")


def test_the_command_afterwards_has_the_path(installation: Home) -> None:
    run(installation, WMSD_BACKUP_AFTER="cp $ARCHIVE copied.tar.gz")
    [name] = names(installation)
    copied = installation.folder / "copied.tar.gz"
    assert copied.read_bytes() == (installation.folder / "data-backups" / name).read_bytes()


def test_a_command_afterwards_that_fails_is_said(installation: Home) -> None:
    done = installation.run(
        "backup", "schedule", "--run", env={**DAILY, "WMSD_BACKUP_AFTER": "echo no route >&2; exit 3"}
    )
    assert done.code == 1
    assert "The command after the backup (backup.after) ended with exit status 3: no route" in done.err
    assert len(names(installation)) == 1


def scheduled(home: Home, *options: str) -> ScheduledBackups:
    command = [sys.executable, "-P", "-c", "from wmsd.interfaces.cli.main import main; main()"]
    settings = Backup(folder=str(home.folder / "data-backups"))
    return ScheduledBackups(
        [*command, "backup", "schedule", "--run", "--data", str(home.data), *options],
        settings,
        DataFolder(home.data),
        SteeredClock(),
    )


async def test_the_server_starts_the_work_when_it_is_due(
    installation: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WMSD_BACKUP_FOLDER", str(installation.folder / "data-backups"))
    backups = scheduled(installation)
    await backups.look()
    assert len(names(installation)) == 1
    assert "backup: the backup verified at" in caplog.text
    caplog.clear()
    await backups.look()
    assert caplog.text == ""


async def test_a_proven_backup_that_is_gone_is_told_before_it_is_replaced(
    installation: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Alerts are checked more often than the schedule, so they can report the loss between two runs of the
    schedule.
    """
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WMSD_BACKUP_FOLDER", str(installation.folder / "data-backups"))
    backups = scheduled(installation)
    await backups.look()
    [first] = names(installation)
    (installation.folder / "data-backups").rename(installation.folder / "away")
    await backups.look()
    gone = f"the verified backup, {first}, is no longer in {installation.folder / 'data-backups'}"
    assert (backups.verdict(), names(installation)) == ((False, gone), [])
    assert gone in caplog.text
    await backups.look()
    [second] = names(installation)
    proven = backups.record().proven
    assert proven is not None
    assert (Path(proven.path).name, backups.verdict().ok) == (second, True)


def test_a_failure_with_advice_ends_with_one_full_stop(installation: Home) -> None:
    nowhere = {**DAILY, "WMSD_BACKUP_FOLDER": str(installation.folder / "nowhere" / "backups")}
    installation.run("backup", "schedule", "--run", env=nowhere)
    said = installation.run("status", env=nowhere).err
    assert ("otherwise create the folder. Fix the cause" in said, ".." in said) == (True, False)


def test_a_proof_of_a_copy_is_none_of_the_last_one(installation: Home) -> None:
    run(installation)
    before = read_record(installation.data)
    copy = shutil.copy(
        installation.folder / "data-backups" / names(installation)[0], installation.folder / "copy.tar.gz"
    )
    installation.ok("backup", "verify", copy)
    assert read_record(installation.data).proven == before.proven


def test_a_proof_by_hand_counts_for_the_last_scheduled_backup(installation: Home) -> None:
    run(installation)
    record = read_record(installation.data)
    change_record(installation.data, lambda _: record.model_copy(update={"proven": None, "sound": []}))
    assert "not verified yet" in installation.ok("backup", "schedule", env=DAILY).out
    installation.ok("backup", "verify")
    assert "the backup verified at" in installation.ok("backup", "schedule", env=DAILY).out


async def test_after_a_failure_an_hour_passes(
    installation: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WMSD_BACKUP_FOLDER", "/dev/null/nowhere")
    backups = scheduled(installation)
    await backups.look()
    assert "the next attempt is in an hour" in caplog.text
    caplog.clear()
    await backups.look()
    assert caplog.text == ""


async def test_a_process_that_cannot_say_what_failed(installation: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    backups = scheduled(installation, "--no-such-option")
    await backups.look()
    failed = backups.record().failed
    assert failed is not None
    assert "No such option" in failed.error


async def test_a_stop_ends_the_work(installation: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WMSD_BACKUP_FOLDER", str(installation.folder / "data-backups"))
    monkeypatch.setenv("WMSD_BACKUP_AFTER", "sleep 60")
    backups = scheduled(installation)
    looking = asyncio.ensure_future(backups.look())
    async with asyncio.timeout(20):
        while not names(installation):  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.05)
    began = time.monotonic()
    await backups.stop()
    await looking
    assert time.monotonic() - began < 5


def test_a_schedule_that_cannot_be(installation: Home) -> None:
    for name, value in (("AT", "25:00"), ("EVERY", "month"), ("KEEP_DAILY", "-1")):
        assert installation.refusals("backup", "schedule", env={f"WMSD_BACKUP_{name}": value})


def test_a_record_of_another_day_is_late(installation: Home) -> None:
    run(installation)
    record = read_record(installation.data)
    assert record.made is not None
    old = record.made.model_copy(update={"at": "2020-01-01T00:00:00.000Z"})
    change_record(installation.data, lambda _: record.model_copy(update={"made": old}))
    done = installation.run("backup", "schedule", env=DAILY)
    assert done.code == 1
    assert "No backup since 2020-01-01" in done.err
