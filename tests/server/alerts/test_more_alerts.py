"""Alerts about the certificate and the replica, and the log lines about alerts of all kinds."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from tests.host.tls.test_lan import BOX
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.disk import MEBIBYTE, Disk
from wmsd.host.tls.authority import CERTIFICATE_LIFETIME, new_authority, new_certificate
from wmsd.host.tls.lan_certificate import certificate_for
from wmsd.host.tls.verdict import judged_by_time
from wmsd.maintenance.backups.last_runs import BackupRecord, MadeBackup, VerifiedBackup, change_record
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.server.alerts.alerts_file import OpenAlert
from wmsd.server.alerts.conditions import BEHIND_SECONDS, Looks
from wmsd.server.alerts.rules import SETTLED
from wmsd.settings.sections.backup import Backup

DAY = 86_400.0
FULL = Disk(10 * MEBIBYTE, 100 * 1024 * MEBIBYTE)


def put(file: Path, world: World) -> None:
    now = world.clock.now()
    signed = new_certificate(new_authority(BOX, now), BOX, now)
    file.write_bytes(signed.certificate_pem + signed.key_pem)


async def opened(world: World) -> list[str]:
    """Return the kinds of the open alerts, after the alerts whose cause is gone have ended."""
    for _ in range(2):
        await world.jobs.alerts.look()
        world.clock.advance(SETTLED.total_seconds() + 1)
    await world.jobs.alerts.look()
    return [each.kind for each in world.jobs.alerts.kept.open]


async def test_a_certificate_from_its_first_day_to_its_last(tmp_path: Path) -> None:
    file = tmp_path / "chain.pem"
    settings = {**UNLIMITED, "server": {"tls": "files", "certificate": str(file)}, "backup": {"every": "never"}}
    async with open_world(tmp_path / "data", settings) as world:
        assert await opened(world) == ["certificate-unusable"]
        put(file, world)
        assert await opened(world) == []
        world.clock.advance(CERTIFICATE_LIFETIME.total_seconds() - 13 * DAY)
        assert "certificate-expires" in await opened(world)
        world.clock.advance(13 * DAY)
        kinds = await opened(world)
        assert ("certificate-expired" in kinds, "certificate-expires" in kinds) == (True, False)
        [alert] = [each for each in world.jobs.alerts.kept.open if each.kind == "certificate-expired"]
        [found] = judged_by_time(world.installation.settings.server, tmp_path / "data", world.clock.now())
        assert found.sentence == f"The certificate {file} expired on {alert.facts['day']}: " + (
            "browsers and programs refuse it."
        )
        put(file, world)
        assert not [kind for kind in await opened(world) if kind.startswith("certificate-")]


async def test_a_certificate_of_the_lan_that_is_not_renewed(tmp_path: Path) -> None:
    settings = {**UNLIMITED, "server": {"tls": "lan"}, "backup": {"every": "never"}}
    async with open_world(tmp_path / "data", settings) as world:
        certificate_for(tmp_path / "data", BOX, world.clock.now())
        assert await opened(world) == []
        world.clock.advance(CERTIFICATE_LIFETIME.total_seconds() - 26 * DAY)
        assert "certificate-not-renewed" in await opened(world)
        certificate_for(tmp_path / "data", BOX, world.clock.now())
        assert "certificate-not-renewed" not in await opened(world)


async def test_a_replica_that_is_behind_for_minutes_is_told(tmp_path: Path) -> None:
    """The replica falls behind because no Litestream is running."""
    settings = {**UNLIMITED, "replica": {"enabled": True}, "backup": {"every": "never"}}
    async with open_world(tmp_path / "data", settings) as world:
        alerts, jobs = world.jobs.alerts, world.jobs
        await alerts.look()
        world.clock.advance(BEHIND_SECONDS - 1)
        await alerts.look()
        assert alerts.kept.open == []
        world.clock.advance(1)
        await alerts.look()
        [alert] = alerts.kept.open
        assert (alert.kind, alert.facts["why"].startswith("Litestream does not answer")) == (
            "replica-behind",
            True,
        )
        restarted = Looks(world.installation, jobs.disk_watch, jobs.room_watch, jobs.clock_watch, jobs.today, None)
        assert [each.kind for each in (await restarted.look([alert], {})).troubles] == ["replica-behind"]
        assert (await restarted.look([], {})).troubles == []


async def test_a_proven_backup_that_is_gone(tmp_path: Path) -> None:
    gone = str(tmp_path / "backups" / "wmsd-2026-11-20T023000Z.tar.gz")
    at = "2026-11-20T02:30:00.000Z"
    record = BackupRecord(
        made=MadeBackup(at=at, path=gone, bytes=1, seconds=1, installation="i"),
        proven=VerifiedBackup(at=at, path=gone, seconds=1),
    )
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        installation, jobs = world.installation, world.jobs
        change_record(installation.folder.path, lambda _: record)
        backups = ScheduledBackups([], Backup(folder=str(tmp_path / "backups")), installation.folder, world.clock)
        looks = Looks(installation, jobs.disk_watch, jobs.room_watch, jobs.clock_watch, jobs.today, backups)
        [trouble] = (await looks.look([], {})).troubles
    why = f"the verified backup, {Path(gone).name}, is no longer in {Path(gone).parent}"
    assert (trouble.kind, trouble.facts) == ("backup", {"why": why})


async def test_the_log_tells_each_as_it_weighs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "wmsd.alerts")
    async with open_world(tmp_path / "data", {**UNLIMITED, "backup": {"every": "never"}}) as world:
        moment = "2026-11-20T11:00:00.000Z"
        world.jobs.alerts._kept = world.jobs.alerts.kept.model_copy(
            update={"open": [OpenAlert(kind="replica-behind", begun_at=moment, gone_at=moment)]}
        )
        world.jobs.disk_watch.note(FULL)
        world.clock.advance(timedelta(days=1).total_seconds())
        await world.jobs.alerts.look()
    told = [(each.levelname, each.getMessage().partition(":")[0]) for each in caplog.records]
    assert [each for each in told if each[1].startswith("The ")] == [
        ("INFO", "The replica is complete again."),
        ("WARNING", "The disk of the data folder is filling up"),
        ("ERROR", "The disk of the data folder is full"),
    ]
