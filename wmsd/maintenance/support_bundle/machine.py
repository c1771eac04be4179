"""Facts about the machine: its system, memory, disks, limits and clock."""

import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from wmsd.base.machine.memory import machine_memory
from wmsd.host import own_program
from wmsd.host.systemd import commands
from wmsd.maintenance.doctor.file_systems import file_system_of
from wmsd.settings.all_settings import Settings
from wmsd.settings.environment import ENVIRONMENT

NAME: Final = "PRETTY_NAME="
RELEASE: Final = Path("/etc/os-release")
FREE: Final = ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree")


def facts(settings: Settings) -> dict[str, Any]:
    """Return the facts about the machine. A fact that the machine does not provide is None, and raises no
    error.
    """
    system = os.uname()
    places = {
        "data": Path(settings.server.data),
        "backups": Path(settings.backup.folder),
        "temporary": Path(os.environ.get("TMPDIR", "/tmp")),  # noqa: S108  (only examined, not used)
    }
    now = time.time()
    return {
        "kernel": f"{system.sysname} {system.release} {system.version} {system.machine}",
        "system": _release(),
        "c_library": " ".join(platform.libc_ver()),
        "python": sys.version,
        "packed_as": own_program.packing_form(),
        "processors": os.cpu_count(),
        "load": _or_none(os.getloadavg),
        "up_seconds": _or_none(lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME))),
        "memory": _memory(),
        "memory_for_wmsd": _or_none(machine_memory),
        "file_systems": {name: _or_none(partial(_file_system, path)) for name, path in places.items()},
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "memory_limit": resource.getrlimit(resource.RLIMIT_AS),
        "user": os.geteuid(),
        "umask": _or_none(_umask),
        "systemd": commands.systemd_runs(),
        "clock": datetime.fromtimestamp(now, UTC).isoformat(),
        "local_clock": datetime.fromtimestamp(now).astimezone().isoformat(),
        "locale": {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ") if name in os.environ},
        "variables": sorted(name for name in os.environ if name.startswith(ENVIRONMENT)),
    }


def _file_system(path: Path) -> dict[str, Any]:
    return file_system_of(path)._asdict()


def _release() -> str | None:
    lines = _or_none(lambda: RELEASE.read_text(encoding="utf-8", errors="replace").splitlines()) or []
    return next((line.removeprefix(NAME).strip('"') for line in lines if line.startswith(NAME)), None)


def _memory() -> dict[str, str]:
    lines = _or_none(lambda: Path("/proc/meminfo").read_text(encoding="ascii").splitlines()) or []
    found = (line.partition(":") for line in lines)
    return {name: value.strip() for name, _, value in found if name in FREE}


def _umask() -> str | None:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next((line.split()[1] for line in lines if line.startswith("Umask:")), None)


def _or_none(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (OSError, ValueError, AttributeError):
        return None
