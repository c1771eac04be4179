"""Where the parts of the service are on a machine. The Debian package has the same, but for program and unit."""

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
"""Where no systemd runs."""
STATE: Final = Path("/var/lib", NAME)
HIDDEN: Final = tuple(map(Path, ("/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys")))  # noqa: S108  (named, not used)
"""What the service does not see (ProtectHome, PrivateTmp, PrivateDevices), or what holds no files."""
