"""What `wmsd service uninstall` does. Data, settings, program and user stay."""

from wmsd.app.machine_service import host
from wmsd.app.machine_service.checks import is_ours
from wmsd.app.machine_service.host import ServiceError
from wmsd.app.machine_service.places import NAME, UNIT_FILE, UNITS_OF_PACKAGES
from wmsd.app.swapping import sync


def remove() -> bool:
    """Stops the service and removes its unit. Returns whether there was one. Raises ServiceError."""
    host.check_systemctl()
    for path in UNITS_OF_PACKAGES:
        if path.exists():
            raise ServiceError(f"The service here is the Debian package's, {path}. Remove that: apt remove {NAME}")
    if not UNIT_FILE.exists():
        return False
    if not is_ours(UNIT_FILE):
        raise ServiceError(f"{UNIT_FILE} was not written by wmsd service install. Nothing was changed.")
    if host.systemd_runs():
        host.run("systemctl", "disable", "--now", NAME)
    else:
        host.run("systemctl", "disable", NAME)
    UNIT_FILE.unlink()
    sync(UNIT_FILE.parent)
    if host.systemd_runs():
        host.run("systemctl", "daemon-reload")
        host.asked("systemctl", "reset-failed", NAME)  # fails where nothing had failed
    return True
