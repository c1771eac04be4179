"""Reads the state of the machine, and runs system programs that change this state."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Final

BOOTED: Final = Path("/run/systemd/system")
"""This folder exists while systemd is the init of the machine: sd_booted(3)."""
SECONDS: Final = 300.0
"""The maximum time that a system program may run. It is long, because systemctl waits until the server has
migrated its files.
"""
LONGEST_REASON: Final = 500
SYSTEM_PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"


SERVE: Final = "wmsd serve"


class ServiceError(Exception):
    """The service cannot be installed, removed or queried. The text is for users."""


def systemd_runs() -> bool:
    return BOOTED.is_dir()


def has_systemctl() -> bool:
    """Return True if systemd is installed, whether or not it is running."""
    return shutil.which("systemctl", path=SYSTEM_PATH) is not None


def check_systemctl() -> None:
    """Raise ServiceError if systemd is not installed."""
    if not has_systemctl():
        raise ServiceError(
            "There is no systemd on this machine, so a service cannot be installed. Nothing was changed. Start "
            f"the server with {SERVE}; in a container, make this the container's command."
        )


def check_systemd(offline: bool) -> None:
    """Raise ServiceError if systemd is not installed or not running, because a service cannot be started without
    it.

    If `offline` is True, the service is only prepared for a later boot. In this case, raise ServiceError if
    systemd is not installed, or if it is already running.
    """
    check_systemctl()
    if systemd_runs():
        if offline:
            raise ServiceError("systemd is running here and can start the service: leave out --offline.")
    elif not offline:
        raise ServiceError(
            "systemd is not running here, so it cannot start a service. Nothing was changed. Start the server "
            f"with {SERVE}; in a container, make this the container's command. To prepare a disk or image that "
            "boots with systemd later, give --offline."
        )


def check_root() -> None:
    """Raise ServiceError if the user is not root."""
    if os.geteuid() != 0:
        raise ServiceError("Only root can change the services of this machine: run the command again with sudo.")


def user_named(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def run(*command: str) -> None:
    """Run a program of the system. Raise ServiceError with the output of the program if it fails."""
    done = run_command(*command)
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:LONGEST_REASON].rstrip(".")
        raise ServiceError(f"{' '.join(command)} failed: {said or f'exit code {done.returncode}'}.")


def run_command(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the system and return its result. Raise ServiceError if the program does not exist or does
    not end.
    """
    environment = {"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(  # noqa: S603  (the system's own programs)
            command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        raise ServiceError(f"There is no {command[0]} on this machine; wmsd needs it for a service.") from None
    except subprocess.TimeoutExpired:
        raise ServiceError(f"{' '.join(command)} did not finish within {SECONDS:.0f} s.") from None
