"""The paths of the service's parts on a machine. The Debian package has the same paths, except for the program and
the unit.
"""

from pathlib import Path
from typing import Final

NAME: Final = "wmsd"
UNIT: Final = f"{NAME}.service"
UNIT_FILE: Final = Path("/etc/systemd/system", UNIT)
UNITS_OF_PACKAGES: Final = (Path("/lib/systemd/system", UNIT), Path("/usr/lib/systemd/system", UNIT))
PROGRAM: Final = Path("/usr/local/bin", NAME)
PROGRAM_OF_PACKAGE: Final = Path("/usr/bin", NAME)
CONFIG: Final = Path("/etc/wmsd/config.toml")
BEGUN_BY_HAND: Final = f"runuser -u {{user}} -- {NAME} serve --config {CONFIG}"
"""The command that starts the server on a machine where systemd is not running."""
STATE: Final = Path("/var/lib", NAME)
HIDDEN: Final = tuple(map(Path, ("/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys")))  # noqa: S108  (compared, not used)
"""Folders that the service cannot see (ProtectHome, PrivateTmp, PrivateDevices), or in which no files can be
created.
"""
