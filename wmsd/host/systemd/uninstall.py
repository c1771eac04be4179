"""The steps of `wmsd service uninstall`. Data, settings, program and user stay."""

from wmsd.base.dataclass import dataclass
from wmsd.data_folder.file_swap import sync
from wmsd.host.systemd import commands
from wmsd.host.systemd.checks import is_ours
from wmsd.host.systemd.commands import ServiceError
from wmsd.host.systemd.paths import NAME, UNIT_FILE, UNITS_OF_PACKAGES
from wmsd.host.systemd.unit import user_of


@dataclass(frozen=True, slots=True)
class Removed:
    was_running: bool
    user: str
    """The user that the service ran as."""


def remove() -> Removed | None:
    """Stop the service and remove its unit. Return None if there was no service. Raise ServiceError if the unit is
    not wmsd's or systemctl fails.
    """
    commands.check_systemctl()
    for path in UNITS_OF_PACKAGES:
        if path.exists():
            raise ServiceError(
                f"The Debian package installed this service, {path}. Remove the package: apt remove {NAME}"
            )
    if not UNIT_FILE.exists():
        return None
    if not is_ours(UNIT_FILE):
        raise ServiceError(
            f"{UNIT_FILE} was not written by wmsd service install. Nothing was changed. If you no longer need "
            "the file, delete it yourself."
        )
    has_systemd = commands.systemd_runs()
    removed = Removed(
        has_systemd and commands.run_command("systemctl", "is-active", "--quiet", NAME).returncode == 0,
        user_of(UNIT_FILE),
    )
    commands.run("systemctl", "disable", *(["--now"] if has_systemd else []), NAME)
    UNIT_FILE.unlink()
    sync(UNIT_FILE.parent)
    if has_systemd:
        commands.run("systemctl", "daemon-reload")
        commands.run_command("systemctl", "reset-failed", NAME)  # fails if the service had not failed
    return removed
