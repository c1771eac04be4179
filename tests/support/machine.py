"""A copy of this machine that tests can change: its files in an overlay, with separate users, processes and
network.

All changes are lost when the copy ends. The copy can be booted, immediately or later, so that systemd is its init
process.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import pytest

LONGEST: Final = 90.0
REFUSED: Final[list[str]] = []
"""The reasons why this machine cannot be copied."""
NAMESPACES: Final = ("--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup")
DEVICES: Final = "null zero full random urandom tty"
SCRIPT: Final = f"""
set -e
exec 2>"$1/said"
mount --make-rprivate /
mount -t tmpfs upper "$1/room"
cd "$1/room"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount -t cgroup2 cgroup2 root/sys/fs/cgroup
mount -t tmpfs -o mode=755 run root/run
mkdir -p root/run/lock
mount -t tmpfs -o mode=755 dev root/dev
mkdir root/dev/shm root/dev/pts
for device in {DEVICES}; do touch root/dev/$device; mount --bind /dev/$device root/dev/$device; done
mount -t tmpfs shm root/dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 pts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
for unit in systemd-udevd systemd-udev-trigger systemd-logind systemd-timesyncd; do
    ln -sfn /dev/null root/etc/systemd/system/$unit.service
done
rm -rf root/etc/systemd/system/*.wants root/etc/systemd/system/wmsd.service* root/etc/wmsd root/var/lib/wmsd
cd root
mkdir -p .before
pivot_root . .before
touch ".before/$1/mounted"
umount -l /.before
target=basic.target
if [ "$2" != booted ]; then
    until [ -e /run/boot ]; do sleep 0.1; done
    target=multi-user.target
fi
export container=unshare
exec /lib/systemd/systemd --system --unit=$target </dev/null >/dev/null 2>&1
"""
HEALTH: Final = (
    "import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/api/health').read().decode())"
)
LOOPBACK: Final = """
import fcntl, socket, struct
with socket.socket() as asked:
    fcntl.ioctl(asked, 0x8914, struct.pack("16sh14x", b"lo", 0x49))
"""


@dataclass(frozen=True)
class Machine:
    pid: int
    """The process id of its init process."""
    root: Path

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        entered = ["nsenter", f"--target={self.pid}", *NAMESPACES, f"--root={self.root}", f"--wd={self.root}"]
        return subprocess.run(
            [*entered, *map(str, command)],
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )

    def ok(self, *command: str | Path, stdin: str = "") -> str:
        """Run a command that must succeed, and return its standard output and standard error."""
        done = self.run(*command, stdin=stdin)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def path(self, inside: str | Path) -> Path:
        return self.root / Path(inside).relative_to("/")

    def bring(self, file: Path) -> str:
        """Copy a file into the machine and return its path there.

        The file is not in /tmp, which a boot empties.
        """
        inside = f"/srv/{file.name}"
        shutil.copyfile(file, self.path(inside))
        return inside

    def health(self, port: int = 8480) -> str:
        return str(json.loads(self.ok("python3", "-c", HEALTH.format(port=port)))["status"])

    def is_healthy(self, port: int = 8480) -> bool:
        return self.run("python3", "-c", HEALTH.format(port=port)).returncode == 0

    def show(self, name: str) -> str:
        """Return a property of the service."""
        return self.ok("systemctl", "show", "wmsd", "--value", f"--property={name}").strip()

    def boot(self) -> None:
        """Start systemd, and everything that is enabled, in a machine without an init process."""
        self.ok("touch", "/run/boot")
        self.until(lambda: self.run("systemctl", "is-active", "multi-user.target").stdout.strip() == "active")

    def until(self, holds: Callable[[], bool], what: str = "") -> None:
        end = time.monotonic() + LONGEST
        while not holds():
            assert time.monotonic() < end, f"{what}\n{self.run('journalctl', '-u', 'wmsd', '-n', '60').stdout}"
            time.sleep(0.2)


@contextmanager
def machine(folder: Path, booted: bool) -> Iterator[Machine]:
    """Start a copy of this machine. Only root can do this, and not in every container.

    Skip the test if this fails. All later tests that need a copy are then skipped without a try.
    """
    if REFUSED:
        pytest.skip(REFUSED[0])
    (folder / "room").mkdir(parents=True)
    group = _group()
    process = subprocess.Popen(
        ["unshare", *NAMESPACES, "--fork", "--kill-child", "sh", "-c", SCRIPT, "sh", folder, _how(booted)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=None if group is None else lambda: _join(group),
    )
    try:
        made = _made(process, folder, booted)
        if made is None:
            _leave_out((folder / "said").read_text() if (folder / "said").exists() else "unshare failed")
        yield made
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        if group is not None:
            _remove(group)


@pytest.fixture
def booted(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path / "machine", booted=True) as made:
        yield made


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Machine]:
    """Return a machine without an init process until it is booted."""
    with machine(tmp_path / "machine", booted=False) as made:
        yield made


def _how(booted: bool) -> str:
    return "booted" if booted else "not booted"


def _made(process: "subprocess.Popen[bytes]", folder: Path, booted: bool) -> Machine | None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.1)
        if not (folder / "mounted").exists():
            continue
        init = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        found = Machine(init, Path(f"/proc/{init}/root"))
        if not booted:
            found.ok("python3", "-c", LOOPBACK)
            return found
        if found.run("systemctl", "is-active", "basic.target").stdout.strip() == "active":
            return found
    return None


def _leave_out(why: str) -> NoReturn:
    REFUSED.append(f"a machine to be changed cannot be had here: {' '.join(why.split())[:300]}")
    pytest.skip(REFUSED[0])


def _group() -> Path | None:
    """Create a separate control group, or return None if that is impossible.

    systemd manages what is below this group and nothing else.
    """
    for hierarchy in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (hierarchy / "cgroup.procs").exists() and (hierarchy / "cgroup.controllers").exists():
            group = hierarchy / f"wmsd-test-{os.getpid()}-{time.monotonic_ns()}"
            with suppress(OSError):
                group.mkdir()
                return group
    return None


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _remove(group: Path) -> None:
    end = time.monotonic() + LONGEST
    while group.exists() and time.monotonic() < end:
        for each in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            with suppress(OSError):
                each.rmdir()
        with suppress(OSError):
            group.rmdir()
        time.sleep(0.05)


HAS_SYSTEMD: Final = shutil.which("systemd-analyze") is not None
