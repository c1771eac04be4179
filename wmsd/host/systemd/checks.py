"""Checks whether a service can be installed on this machine. All `check_…` functions raise ServiceError."""

import os
import pwd
import re
from pathlib import Path
from typing import Final

from wmsd.base.machine.private_files import known_name
from wmsd.host.systemd import commands
from wmsd.host.systemd.commands import ServiceError
from wmsd.host.systemd.paths import HIDDEN, NAME, UNIT_FILE, UNITS_OF_PACKAGES
from wmsd.host.systemd.unit import BY_COMMAND, is_plain

USER_NAME: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}", re.ASCII)
NO_SHELLS: Final = ("nologin", "false")


def check_unit() -> None:
    for path in UNITS_OF_PACKAGES:
        if path.exists():
            raise ServiceError(
                f"The Debian package has already installed a service, {path}. Start that service: systemctl "
                f"enable --now {NAME}"
            )
    if UNIT_FILE.exists() and not is_ours(UNIT_FILE):
        raise ServiceError(
            f"{UNIT_FILE} was not written by wmsd service install. Nothing was changed. Move the file away, or "
            "delete it if you no longer need it. Then try again."
        )


def is_ours(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").startswith(f"# {BY_COMMAND}\n")
    except (OSError, UnicodeDecodeError):
        return False


def check_program(program: Path) -> None:
    if not program.is_file() or not os.access(program, os.X_OK):
        raise ServiceError(f"{program} is not an executable program.")
    if program.read_bytes()[:4] != b"\x7fELF":
        raise ServiceError(
            f"{program} is not an executable of wmsd. Build one with scripts/build, and name it with --program."
        )


def check_user(name: str) -> pwd.struct_passwd | None:
    """Return the account with this name, or None if it does not exist yet. Raise ServiceError if the service
    cannot use it.
    """
    if not USER_NAME.fullmatch(name):
        raise ServiceError(f"{name!r} is not a valid user name: use lower-case letters, digits, - and _.")
    account = commands.user_named(name)
    if account is None:
        return None
    if account.pw_uid == 0:
        raise ServiceError("The service must not run as root. Name another user with --user.")
    if Path(account.pw_shell).name not in NO_SHELLS:
        raise ServiceError(
            f"The user {name} can log in (its shell is {account.pw_shell or '/bin/sh'}), so the account "
            "belongs to a person. Name another user with --user, or disable the login: usermod --shell "
            "/usr/sbin/nologin " + name
        )
    return account


def check_folder(folder: Path, user: str, account: pwd.struct_passwd | None) -> None:
    """Check that the service can use the folder. It must be one of the following:
    - a folder that does not exist yet,
    - a folder that belongs to the user of the service,
    - an empty folder that belongs to root.
    """
    if not folder.is_absolute() or ".." in folder.parts or not is_plain(folder):
        raise ServiceError(
            f"{folder} cannot be a folder of the service: give an absolute path with only letters, digits "
            "and _ . -"
        )
    real = Path(os.path.realpath(folder))
    for hidden in HIDDEN:
        if real.is_relative_to(hidden):
            raise ServiceError(
                f"{folder} cannot be a folder of the service, because the service has no access to {hidden}. "
                "Name another folder."
            )
    if len(real.parts) < 3:  # for example /srv itself
        raise ServiceError(f"{folder} belongs to the system. Name a folder inside it.")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise ServiceError(f"{folder} is not a folder.")
    owner = folder.stat().st_uid
    if account is not None and owner == account.pw_uid:
        return
    if owner != 0 or any(folder.iterdir()):
        whose = known_name(owner) or f"user {owner}"
        raise ServiceError(
            f"{folder} belongs to {whose}, but the service runs as {user}. To give the folder to the "
            f"service, stop the programs that use it, then run: chown -R {user}: {folder}"
        )
