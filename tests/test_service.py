"""Tests of the service on a machine that can be changed: with systemd as its init process, and without any."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from tests.support.executable import EXECUTABLE, IS_THERE
from tests.support.machine import HAS_SYSTEMD, Machine
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

pytestmark = [
    pytest.mark.skipif(not IS_THERE, reason="build it first: scripts/build"),
    pytest.mark.skipif(not HAS_SYSTEMD, reason="systemd-analyze is not installed"),
]
PROGRAM = "/usr/local/bin/wmsd"
UNIT = "/etc/systemd/system/wmsd.service"
CONFIG = "/etc/wmsd/config.toml"
ROWS = 30_000
STALLED = """
import socket, time
held = [socket.create_connection(("127.0.0.1", 8480)) for _ in range(5)]
for each in held:
    each.sendall(b"POST /sign-in HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 100\\r\\n\\r\\nemail=")
open("/srv/stalled", "w").close()
time.sleep(600)
"""
MOST_EXPOSED = 20
"""The highest exposure that systemd-analyze may report, in tenths: 0 is none, 100 is full exposure."""


def refused(on: Machine, *arguments: str | Path) -> str:
    """Return the only error sentence of a command that must fail and change nothing."""
    done = on.run(EXECUTABLE, "service", *arguments)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert not on.path(PROGRAM).exists()
    (sentence,) = done.stderr.splitlines()
    return sentence.removeprefix("wmsd: ")


def test_a_service_from_its_installation_to_its_end(booted: Machine) -> None:
    said = booted.ok(EXECUTABLE, "service", "install")
    assert said.splitlines()[:6] == [
        "The user wmsd was created, without a login.",
        f"{EXECUTABLE} was copied to {PROGRAM}.",
        f"{CONFIG} was written, with every setting.",
        "The folder /var/lib/wmsd was created, only for wmsd.",
        f"{UNIT} was written.",
        "The service runs, and starts at each boot.",
    ]
    assert booted.health() == "ok"
    first = booted.show("MainPID")
    assert booted.show("StatusText") == "Serving http://127.0.0.1:8480"
    group = booted.path("/sys/fs/cgroup/system.slice/wmsd.service/cgroup.procs").read_text().split()
    assert len(group) == 2, "the one that unpacks, and its child that serves"
    assert booted.show("ExecMainPID") == first
    stat = booted.path(CONFIG).stat()
    assert (stat.st_uid, stat.st_mode & 0o777) == (0, 0o640)
    assert booted.path("/var/lib/wmsd").stat().st_mode & 0o777 == 0o700
    assert "The service runs. It starts at each boot." in booted.ok(PROGRAM, "service", "status")

    _is_hardened(booted)
    _works_inside(booted)

    assert "leave out --offline" in booted.run(PROGRAM, "service", "install", "--offline").stderr
    again = booted.ok(PROGRAM, "service", "install")
    assert again.startswith("Everything is already installed. Nothing was changed.\n")
    assert booted.show("MainPID") == first, "what is right already is not started again"
    booted.ok("systemctl", "reload", "wmsd")
    assert (booted.show("MainPID"), booted.show("ActiveState")) == (first, "active")

    changed = booted.ok(PROGRAM, "service", "install", "--listen", "127.0.0.1:81", "--data", "/srv/goods/data")
    assert f"{CONFIG} was changed as requested." in changed
    assert "The folder /srv/goods/data was created, only for wmsd." in changed
    assert booted.health(81) == "ok"
    assert booted.path("/srv/goods/data/platform.db").exists()
    assert booted.path("/var/lib/wmsd/data/platform.db").exists()

    gone = booted.ok(PROGRAM, "service", "uninstall")
    assert gone.splitlines() == [
        "The service was stopped and removed.",
        "Not removed: the data in /srv/goods/data.",
        f"Not removed: the settings in {CONFIG}.",
        f"Not removed: the program {PROGRAM}.",
        "Not removed: the user wmsd.",
    ]
    assert not booted.path(UNIT).exists()
    assert booted.path("/srv/goods/data/platform.db").exists()
    assert list(booted.path("/var/lib/wmsd/tmp").iterdir()) == [], "it takes what it has unpacked away"
    assert booted.show("LoadState") == "not-found"
    assert "There is no service wmsd" in booted.ok(PROGRAM, "service", "uninstall")
    assert "There is no service wmsd" in booted.run(PROGRAM, "service", "status").stdout


def _is_hardened(on: Machine) -> None:
    assert on.run("systemd-analyze", "verify", UNIT).stderr.count("wmsd") == 0
    told = on.ok("systemd-analyze", "security", "--no-pager", f"--threshold={MOST_EXPOSED}", "wmsd")
    assert "Overall exposure level" in told
    process = on.show("MainPID")
    status = on.ok("cat", f"/proc/{process}/status")
    assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
    assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)
    assert re.search(r"^CapBnd:\t0+$", status, re.MULTILINE)


def _works_inside(on: Machine) -> None:
    """Check that the service works within its limits: it writes, creates backups and examines them, each in a
    separate process.
    """
    given = ("--config", CONFIG)
    on.ok(PROGRAM, "company", "create", "ACME", "--name", "Acme", "--all-modules", *given)
    record = on.path("/var/lib/wmsd/data/backup.json")

    def is_verified() -> bool:
        return record.exists() and json.loads(record.read_text())["proven"] is not None

    on.until(is_verified, "the server makes a backup a minute after its start, and proves it")
    assert json.loads(record.read_text())["proven"]["problems"] == []
    assert "seccomp" not in on.run("journalctl", "-u", "wmsd").stdout.lower()


def test_a_service_that_is_killed_or_stuck_is_started_again(booted: Machine) -> None:
    booted.ok(EXECUTABLE, "service", "install")
    first = booted.show("MainPID")
    litter = booted.path("/var/lib/wmsd/tmp/_MEIold")
    litter.mkdir()
    booted.ok("kill", "-KILL", first)
    booted.until(lambda: booted.show("MainPID") not in (first, "0") and booted.show("ActiveState") == "active")
    assert booted.health() == "ok"
    assert not litter.exists()
    drop_in = booted.path("/etc/systemd/system/wmsd.service.d/watchdog.conf")
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nWatchdogSec=3s\n")
    booted.ok("systemctl", "daemon-reload")
    booted.ok("systemctl", "restart", "wmsd")
    watched = booted.show("MainPID")
    time.sleep(6)
    assert booted.show("MainPID") == watched, "its signs of life arrive"
    booted.ok("kill", "-STOP", watched)
    booted.until(lambda: booted.show("MainPID") not in (watched, "0") and booted.show("ActiveState") == "active")
    assert "Watchdog timeout" in booted.run("journalctl", "-u", "wmsd").stdout
    assert booted.health() == "ok"


def test_it_starts_with_the_machine(bare: Machine) -> None:
    bare.ok(EXECUTABLE, "service", "install", "--offline")
    assert not bare.is_healthy()
    bare.boot()
    bare.until(bare.is_healthy, "it starts at boot")
    assert "The service runs. It starts at each boot." in bare.ok(PROGRAM, "service", "status")


def test_a_disk_that_is_missing(booted: Machine) -> None:
    """Without the disk of the data, the service creates nothing new in its place.

    Without the disk of the backups, it runs.
    """
    booted.ok("mkdir", "-p", "/etc/wmsd")
    booted.path(CONFIG).write_text('[backup]\nfolder = "/srv/saved/backups"\n')
    booted.ok(EXECUTABLE, "service", "install", "--data", "/srv/goods/data")
    assert booted.health() == "ok"
    booted.ok("systemctl", "stop", "wmsd")
    for disk in ("goods", "saved"):
        booted.ok("mv", f"/srv/{disk}", f"/srv/disk-of-{disk}")
    booted.ok("mkdir", "-p", "/srv/goods/data")
    mount = booted.path("/etc/systemd/system/srv-goods.mount")
    mount.write_text("[Mount]\nWhat=/srv/taken-out\nWhere=/srv/goods\nType=ext4\n")
    booted.ok("systemctl", "daemon-reload")
    assert "A dependency job for wmsd.service failed" in booted.run("systemctl", "start", "wmsd").stderr
    assert list(booted.path("/srv/goods/data").iterdir()) == []
    mount.write_text("[Mount]\nWhat=/srv/disk-of-goods\nWhere=/srv/goods\nType=none\nOptions=bind\n")
    booted.ok("systemctl", "daemon-reload")
    booted.ok("systemctl", "start", "wmsd")
    assert booted.is_healthy()
    assert not booted.path("/srv/saved").exists()


def test_a_stop_ends_within_its_time_whatever_is_under_way(booted: Machine) -> None:
    """A stop ends within its time, whatever is running: requests that never end, and a command that writes many
    rows.
    """
    booted.ok(EXECUTABLE, "service", "install")
    wmsd = f"runuser -u wmsd -- {PROGRAM}"
    booted.ok("sh", "-c", f"{wmsd} company create ACME --name Acme --all-modules --config {CONFIG}")
    rows = "code,name\n" + "".join(f"S-{number},Screw\n" for number in range(ROWS))
    booted.path("/srv/rows.csv").write_text(rows)
    booted.ok("sh", "-c", f"python3 -c '{STALLED}' >/dev/null 2>&1 &")
    booted.until(booted.path("/srv/stalled").exists, "requests hang")
    taken = f"{wmsd} import articles /srv/rows.csv --company ACME --config {CONFIG} --tell-progress"
    booted.ok("sh", "-c", f"({taken} >/srv/told 2>/srv/said; echo $? >/srv/code) >/dev/null 2>&1 &")
    booted.until(lambda: booted.path("/srv/told").exists() and booted.path("/srv/told").stat().st_size > 0)
    booted.ok("systemctl", "stop", "wmsd")
    assert (booted.show("ActiveState"), booted.show("Result")) == ("inactive", "success")
    log = booted.ok("journalctl", "-u", "wmsd")
    assert "timed out. Killing" not in log
    assert "Traceback" not in log
    booted.until(booted.path("/srv/code").exists, "the command ends too")
    booted.ok("systemctl", "start", "wmsd")
    assert booted.health() == "ok"
    exported = booted.ok(
        "sh", "-c", f"{wmsd} export articles --company ACME --config {CONFIG} 2>/dev/null | wc -l"
    )
    is_in = booted.path("/srv/code").read_text() == "0\n"
    assert int(exported) == 1 + ROWS * is_in, booted.path("/srv/said").read_text()
    assert booted.run("sh", "-c", f"{wmsd} doctor --config {CONFIG}").returncode in (0, ONLY_WARNINGS)


def test_where_no_systemd_runs_nothing_is_changed(bare: Machine) -> None:
    for dry_run in ([], ["--dry-run"]):
        assert refused(bare, "install", *dry_run) == (
            "systemd is not running here, so it cannot start a service. Nothing was changed. Start the server "
            "with wmsd serve; in a container, make this the container's command. To prepare a disk or image that "
            "boots with systemd later, give --offline."
        )
    assert [path for path in (CONFIG, UNIT, "/var/lib/wmsd") if bare.path(path).exists()] == []
    assert bare.run("id", "wmsd").returncode == 1
    assert "There is no service wmsd" in bare.ok(EXECUTABLE, "service", "uninstall")


def test_for_a_later_boot_the_unit_is_written_and_the_person_is_told(bare: Machine) -> None:
    shown = bare.run(EXECUTABLE, "service", "install", "--offline", "--dry-run")
    assert shown.returncode == 0
    assert "Not done (dry run): The user wmsd was created, without a login." in shown.stderr
    assert not bare.path(UNIT).exists()
    said = bare.ok(EXECUTABLE, "service", "install", "--offline")
    assert "The service was not started now. It starts at the next boot with systemd." in said
    assert bare.path(UNIT).read_text() == shown.stdout
    assert os.path.lexists(bare.path("/etc/systemd/system/multi-user.target.wants/wmsd.service"))
    bare.ok("systemd-analyze", "verify", UNIT)
    bare.ok("systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager", UNIT)
    status = bare.run(PROGRAM, "service", "status")
    assert status.returncode == 1
    by_hand = f"runuser -u wmsd -- wmsd serve --config {CONFIG}"
    assert f"Its unit is installed. To start the server now: {by_hand}" in status.stdout
    assert f"To start the server now: {by_hand}" in said
    version = bare.ok("runuser", "-u", "wmsd", "--", PROGRAM, "config", "check", "--config", CONFIG)
    assert "The settings have no errors." in version
    assert bare.ok(PROGRAM, "service", "uninstall").splitlines() == [
        "The service did not run, and was removed.",
        f"Not removed: the settings in {CONFIG}.",
        f"Not removed: the program {PROGRAM}.",
        "Not removed: the user wmsd.",
    ]
    assert not bare.path(UNIT).exists()
    assert not os.path.lexists(bare.path("/etc/systemd/system/multi-user.target.wants/wmsd.service"))


def test_without_systemd_a_person_is_told_and_nothing_is_changed(bare: Machine) -> None:
    for name in ("/usr/bin/systemctl", "/bin/systemctl"):
        bare.path(name).unlink(missing_ok=True)
    sentence = refused(bare, "install")
    assert sentence == (
        "There is no systemd on this machine, so a service cannot be installed. Nothing was changed. Start the "
        "server with wmsd serve; in a container, make this the container's command."
    )
    assert refused(bare, "uninstall") == sentence
    status = bare.run(EXECUTABLE, "service", "status")
    told = "There is no systemd on this machine. Start the server with its command: wmsd serve"
    assert (status.returncode, status.stdout) == (1, f"service  {told}\n")
    as_json = json.loads(bare.run(EXECUTABLE, "service", "status", "--json").stdout)
    assert as_json == {"ok": False, "service": told}
    assert not bare.path(CONFIG).exists()
    assert bare.run("id", "wmsd").returncode == 1


def test_what_is_in_the_way_is_told_and_left_as_it_is(bare: Machine) -> None:
    bare.ok("useradd", "--system", "--shell", "/bin/bash", "ana")
    assert "can log in (its shell is /bin/bash)" in refused(bare, "install", "--offline", "--user", "ana")
    assert refused(bare, "install", "--offline", "--user", "root").startswith("The service must not run as root.")
    assert "is not a valid user name" in refused(bare, "install", "--offline", "--user", "a b\nUser=root")
    assert "because the service has no access to /root" in refused(
        bare, "install", "--offline", "--data", "/root/data"
    )
    assert "because the service has no access to /tmp" in refused(
        bare, "install", "--offline", "--data", "/tmp/data"
    )
    assert "cannot be a folder of the service" in refused(bare, "install", "--offline", "--data", "/srv/a b")
    assert "cannot be a folder of the service" in refused(bare, "install", "--offline", "--data", "/srv/%h")
    assert "belongs to the system" in refused(bare, "install", "--offline", "--data", "/srv")
    assert "server.listen must be HOST:PORT" in refused(bare, "install", "--offline", "--listen", "here")
    bare.ok("sh", "-c", "mkdir /srv/taken && touch /srv/taken/file")
    assert "chown -R wmsd: /srv/taken" in refused(bare, "install", "--offline", "--data", "/srv/taken")
    bare.ok("ln", "-s", "/etc/systemd", "/srv/link")
    assert refused(bare, "install", "--offline", "--data", "/srv/link") == "/srv/link is not a folder."
    assert "is not an executable program" in refused(bare, "install", "--offline", "--program", "/nowhere")
    assert "is not an executable of wmsd" in refused(bare, "install", "--offline", "--program", "/usr/bin/ldd")
    bare.path(UNIT).write_text("[Service]\nExecStart=/bin/true\n")
    assert f"{UNIT} was not written by wmsd service install" in refused(bare, "install", "--offline")
    assert f"{UNIT} was not written by wmsd service install" in refused(bare, "uninstall")
    assert bare.path(UNIT).read_text() == "[Service]\nExecStart=/bin/true\n"
    bare.path(UNIT).unlink()
    by_ana = bare.run("runuser", "-u", "nobody", "--", EXECUTABLE, "service", "install")
    assert "Only root can change the services of this machine" in by_ana.stderr
    assert bare.run("id", "wmsd").returncode == 1


def test_a_configuration_that_is_there_stays_as_people_wrote_it(bare: Machine) -> None:
    bare.ok("mkdir", "-p", "/etc/wmsd", "/var/log/goods")
    written = (
        '# Ours.\n[server]\nlisten = "127.0.0.1:9000"  # as agreed\n\n[log]\nfile = "/var/log/goods/wmsd.log"\n'
    )
    bare.path(CONFIG).write_text(written)
    said = bare.ok(EXECUTABLE, "service", "install", "--offline")
    assert "The folder /var/log/goods was given to wmsd." in said
    text = bare.path(CONFIG).read_text()
    assert '# Ours.\n[server]\ndata = "/var/lib/wmsd/data"\nlisten = "127.0.0.1:9000"  # as agreed\n' in text
    assert '[backup]\nfolder = "/var/lib/wmsd/backups"\n' in text
    assert "ReadWritePaths=-/var/log/goods\n" in bare.path(UNIT).read_text()
    bare.path(CONFIG).write_text("server = 5\n")
    assert (
        bare.run(PROGRAM, "service", "install", "--offline").stderr
        == f"wmsd: {CONFIG}: server is not in a section; did you mean server.tls?\n"
    )
