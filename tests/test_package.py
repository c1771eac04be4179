"""Tests of the Debian package on a machine that can be changed: with systemd as its init process,
and without any.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.executable import EXECUTABLE, IS_THERE
from tests.support.machine import HAS_SYSTEMD, Machine
from tests.support.newer_wmsd import ROOT, VERSION
from wmsd import __version__

FOLDER: Final = ROOT / "build" / "dist" / "wmsd-folder"
pytestmark = [
    pytest.mark.skipif(not IS_THERE or not FOLDER.exists(), reason="build it first: scripts/build"),
    pytest.mark.skipif(not HAS_SYSTEMD, reason="systemd-analyze is not installed"),
    pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg is not installed"),
]
PROGRAM: Final = "/usr/bin/wmsd"
UNIT: Final = "/lib/systemd/system/wmsd.service"
ENABLED: Final = "/etc/systemd/system/multi-user.target.wants/wmsd.service"
CONFIG: Final = "/etc/wmsd/config.toml"
STATE: Final = "/var/lib/wmsd"
AS_WMSD: Final = ("runuser", "-u", "wmsd", "--", PROGRAM)
PACK_SECONDS: Final = 120.0
OF_PACKAGE: Final = __version__.replace("-", "~")
"""The version in Debian's order, in which a pre-release comes before the release."""


def packed(to: Path, folder: Path, version: str) -> Path:
    environment = {
        "PATH": os.environ["PATH"],
        "WMSD_DEB_FOLDER": str(folder),
        "WMSD_DEB_VERSION": version,
        "WMSD_DEB_TO": str(to),
        "WMSD_DEB_COMPRESSION": "none",
    }
    command: list[str | Path] = [ROOT / "scripts" / "build-deb", "--built"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=PACK_SECONDS)
    (package,) = to.glob("*.deb")
    return package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed(tmp_path_factory.mktemp("package"), FOLDER, __version__)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory, newer_build: Path) -> Path:
    return packed(tmp_path_factory.mktemp("newer-package"), newer_build / "wmsd-folder", VERSION)


def state_of_package(on: Machine) -> str:
    return on.run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}${Version}", "wmsd").stdout


def create_company(on: Machine) -> None:
    on.ok(*AS_WMSD, "company", "create", "ACME", "--name", "Acme", "--all-modules", "--config", CONFIG)


def companies(on: Machine) -> list[str]:
    listed = on.run(*AS_WMSD, "company", "list", "--json", "--config", CONFIG)
    assert listed.returncode == 0, listed.stderr
    return [each["code"] for each in json.loads(listed.stdout)]


def test_a_package_from_its_installation_to_its_purge(booted: Machine, package: Path) -> None:
    said = booted.ok("dpkg", "-i", booted.bring(package))
    assert "wmsd: the service is running. State: wmsd service status. Log: journalctl -u wmsd\n" in said
    assert booted.health() == "ok"
    assert "The service runs. It starts at each boot." in booted.ok(PROGRAM, "service", "status")
    account = booted.ok("getent", "passwd", "wmsd").strip().split(":")
    assert account[5:] == [STATE, "/usr/sbin/nologin"]
    assert booted.path(STATE).stat().st_mode & 0o777 == 0o700
    assert booted.path(STATE).stat().st_uid == int(account[2])
    settings = booted.path(CONFIG).stat()
    assert (settings.st_uid, settings.st_gid, settings.st_mode & 0o777) == (0, int(account[3]), 0o640)
    group = booted.path("/sys/fs/cgroup/system.slice/wmsd.service/cgroup.procs").read_text().split()
    assert len(group) == 1, "nothing unpacks it"
    assert list(booted.path(f"{STATE}/tmp").iterdir()) == []
    assert booted.run("systemd-analyze", "verify", UNIT).stderr.count("wmsd") == 0
    booted.ok("systemd-analyze", "security", "--no-pager", "--threshold=20", "wmsd")
    assert "Usage: wmsd" in booted.ok("sh", "-c", "wmsd --help; true"), "it runs below of any shell"
    assert booted.ok("dpkg", "--verify", "wmsd") == ""
    assert "\naiohttp " in booted.path("/usr/share/doc/wmsd/copyright").read_text(encoding="utf-8")
    create_company(booted)

    refused = booted.run(PROGRAM, "service", "install")
    assert (refused.returncode, refused.stdout) == (1, "")
    by_unit = "To start the service: systemctl enable --now wmsd"
    assert f"This wmsd was installed as a Debian package, which includes the service. {by_unit}" in refused.stderr
    upgrade = booted.run(*AS_WMSD, "upgrade", booted.bring(package), "--config", CONFIG)
    assert "This wmsd was installed as a system package: install the newer package instead." in upgrade.stderr
    assert "apt remove wmsd" in booted.run(PROGRAM, "service", "uninstall").stderr

    first = booted.show("MainPID")
    booted.ok("dpkg", "-i", booted.bring(package))
    assert booted.show("MainPID") not in (first, "0"), "installed over itself, it is started again"
    assert companies(booted) == ["ACME"]

    removed = booted.ok("dpkg", "--remove", "wmsd")
    assert "wmsd: the data stays in /var/lib/wmsd, and the settings in /etc/wmsd.\n" in removed
    assert (booted.show("LoadState"), booted.path(PROGRAM).exists()) == ("not-found", False)
    assert booted.path(f"{STATE}/data/companies/1.db").exists()
    assert booted.path(CONFIG).exists()

    booted.ok("dpkg", "-i", booted.bring(package))
    assert booted.health() == "ok"
    assert booted.show("UnitFileState") == "enabled"
    assert companies(booted) == ["ACME"]

    purged = booted.ok("dpkg", "--purge", "wmsd")
    assert (
        "wmsd: the data and the backups stay in /var/lib/wmsd; their owner, the user wmsd, stays too.\n" in purged
    )
    assert "rm -rf /var/lib/wmsd && userdel wmsd\n" in purged
    assert booted.path(f"{STATE}/data/companies/1.db").exists()
    assert booted.run("id", "wmsd").returncode == 0
    assert not booted.path("/etc/wmsd").exists()
    assert not os.path.lexists(booted.path(ENABLED))
    assert not booted.path("/usr/lib/wmsd").exists()

    booted.ok("dpkg", "-i", booted.bring(package))
    assert (booted.health(), companies(booted)) == ("ok", ["ACME"])


def test_an_upgrade_keeps_the_data_and_a_copy_of_before(booted: Machine, package: Path, newer: Path) -> None:
    booted.ok("dpkg", "-i", booted.bring(package))
    create_company(booted)
    changed = booted.path(CONFIG).read_text() + '\n[log]\nlevel = "debug"\n'
    booted.path(CONFIG).write_text(changed)
    booted.ok("dpkg", "-i", booted.bring(newer))
    assert state_of_package(booted) == f"ii {VERSION}"
    assert booted.ok(PROGRAM, "version") == f"wmsd {VERSION}\n"
    assert booted.health() == "ok"
    assert companies(booted) == ["ACME"]
    assert booted.path(CONFIG).read_text() == changed
    before = booted.path(f"{STATE}/data/before-{VERSION}")
    booted.until(lambda: (before / "companies" / "1.db").exists(), "the company's file is copied, then migrated")
    assert (before / "platform.db").exists()
    assert booted.run(*AS_WMSD, "doctor", "--config", CONFIG).returncode in (0, 3)

    older = booted.run("dpkg", "-i", booted.bring(package))
    assert "wmsd: the service did not start. The log shows the reason: journalctl -u wmsd -n 50\n" in older.stderr
    assert "newer" in booted.ok("journalctl", "-u", "wmsd", "-n", "50")
    booted.ok("systemctl", "disable", "--now", "wmsd")
    again = booted.ok("dpkg", "-i", booted.bring(newer))
    assert "wmsd: the service is not enabled, so it was not started.\n" in again
    assert booted.show("ActiveState") == "inactive"
    booted.ok("systemctl", "start", "wmsd")
    started = booted.show("MainPID")
    booted.ok("dpkg", "-i", booted.bring(newer))
    assert booted.show("MainPID") not in (started, "0"), "what was started by hand runs again"
    assert (booted.show("UnitFileState"), companies(booted)) == ("disabled", ["ACME"])


def test_an_installation_that_was_broken_off_is_finished(booted: Machine, package: Path) -> None:
    useradd, away = booted.path("/usr/sbin/useradd"), booted.path("/usr/sbin/useradd.away")
    useradd.rename(away)
    assert booted.run("dpkg", "-i", booted.bring(package)).returncode == 1
    assert state_of_package(booted) == f"iF {OF_PACKAGE}"
    assert booted.show("ActiveState") == "inactive"
    away.rename(useradd)
    booted.ok("dpkg", "--configure", "-a")
    assert (state_of_package(booted), booted.health()) == (f"ii {OF_PACKAGE}", "ok")
    assert booted.show("UnitFileState") == "enabled"


def test_an_upgrade_that_is_broken_off_leaves_the_old_one_at_work(
    booted: Machine, package: Path, newer: Path, tmp_path: Path
) -> None:
    booted.ok("dpkg", "-i", booted.bring(package))
    create_company(booted)
    cut = tmp_path / "cut.deb"
    cut.write_bytes(newer.read_bytes()[: newer.stat().st_size // 2])
    assert booted.run("dpkg", "-i", booted.bring(cut)).returncode == 1
    assert booted.ok(PROGRAM, "version") == f"wmsd {__version__}\n"
    assert (booted.health(), companies(booted)) == ("ok", ["ACME"])
    booted.ok("dpkg", "--unpack", booted.bring(newer))
    assert booted.show("ActiveState") == "inactive", "while it is half an upgrade, nothing runs"
    booted.ok("dpkg", "--configure", "-a")
    assert booted.ok(PROGRAM, "version") == f"wmsd {VERSION}\n"
    assert (booted.health(), companies(booted)) == ("ok", ["ACME"])


def test_without_an_init_it_is_begun_by_hand_and_starts_at_the_next_boot(bare: Machine, package: Path) -> None:
    said = bare.ok("dpkg", "-i", bare.bring(package))
    by_hand = "runuser -u wmsd -- wmsd serve --config /etc/wmsd/config.toml"
    assert (
        f"wmsd: systemd does not run here, so the server was not started. To start the server now:\n  {by_hand}\n"
        in said
    )
    bare.ok("systemd-analyze", "verify", UNIT)
    status = bare.run(PROGRAM, "service", "status")
    assert status.returncode == 1
    assert by_hand in status.stdout
    bare.ok("sh", "-c", f"cd / && {by_hand} >/dev/null 2>/tmp/serve.log & echo $! >/tmp/serve.pid")
    bare.until(lambda: bare.is_healthy(), "the sentence's command serves")
    assert bare.path(f"{STATE}/data/platform.db").stat().st_uid == bare.path(STATE).stat().st_uid
    create_company(bare)
    bare.ok(
        "sh",
        "-c",
        "pkill -P $(cat /tmp/serve.pid) -TERM; while pgrep -P $(cat /tmp/serve.pid); do sleep 0.1; done",
    )
    bare.boot()
    bare.until(lambda: bare.run("systemctl", "is-active", "wmsd").stdout == "active\n", "it starts at boot")
    assert (bare.health(), companies(bare)) == ("ok", ["ACME"])


def test_a_service_by_command_keeps_the_package_away(bare: Machine, package: Path) -> None:
    unit = bare.path("/etc/systemd/system/wmsd.service")
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    refused = bare.run("dpkg", "-i", bare.bring(package))
    assert refused.returncode == 1
    assert "/etc/systemd/system/wmsd.service already defines a service wmsd." in refused.stderr
    assert not bare.path(PROGRAM).exists()
    assert unit.exists()


def test_apt_installs_upgrades_and_removes_it(bare: Machine, package: Path, newer: Path) -> None:
    apt = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "--no-install-recommends")
    bare.ok(*apt, "install", bare.bring(package))
    create = (*AS_WMSD, "company", "create", "ACME", "--name", "Acme", "--init", "--config", CONFIG)
    bare.ok("sh", "-c", f"cd / && {' '.join(create)}")
    bare.ok(*apt, "install", bare.bring(newer))
    assert state_of_package(bare) == f"ii {VERSION}"
    assert "the data stays in /var/lib/wmsd" in bare.ok(*apt, "remove", "wmsd")
    assert bare.path(f"{STATE}/data/companies/1.db").exists()
    assert "rm -rf /var/lib/wmsd && userdel wmsd" in bare.ok(*apt, "purge", "wmsd")
    assert bare.path(f"{STATE}/data/companies/1.db").exists()


def test_the_service_by_command_makes_room_for_the_package(booted: Machine, package: Path) -> None:
    """A service that was installed by command makes room for the package, as the guide says.

    Data and edited settings stay.
    """
    booted.ok(EXECUTABLE, "service", "install", "--listen", "127.0.0.1:8485")
    program = "/usr/local/bin/wmsd"
    booted.ok(*AS_WMSD[:-1], program, "company", "create", "ACME", "--name", "Acme", "--config", CONFIG)
    booted.ok(program, "service", "uninstall")
    said = booted.ok("dpkg", "--force-confold", "-i", booted.bring(package))
    assert f"wmsd: shells find another program first, {program}." in said
    booted.ok("rm", program)
    assert (booted.health(8485), companies(booted)) == ("ok", ["ACME"])


def test_purging_what_never_ran_leaves_nothing(bare: Machine, package: Path) -> None:
    bare.ok("dpkg", "-i", bare.bring(package))
    purged = bare.ok("dpkg", "--purge", "wmsd")
    assert "stay" not in purged.replace("the data stays in /var/lib/wmsd, and the settings in /etc/wmsd", "")
    assert not bare.path(STATE).exists()
    assert not bare.path("/etc/wmsd").exists()
    assert bare.run("id", "wmsd").returncode == 1


def test_a_package_tells_who_made_it_and_is_the_same_again(package: Path, tmp_path: Path) -> None:
    again = packed(tmp_path, FOLDER, __version__)
    assert again.read_bytes() == package.read_bytes()
    field = subprocess.run(
        ["dpkg-deb", "--field", package, "Maintainer"], capture_output=True, text=True, check=True
    )
    assert field.stdout == "wmsd (built without a maintainer) <nobody@localhost.invalid>\n"
