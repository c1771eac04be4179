"""The systemd unit: one template for `wmsd service install` and for the Debian package."""

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.host.systemd.paths import CONFIG, NAME, PROGRAM_OF_PACKAGE, STATE
from wmsd.settings.all_settings import Settings

TEMPLATE: Final = files("wmsd.host.systemd") / "wmsd.service"
BY_COMMAND: Final = "Written by `wmsd service install`, which writes it anew."
BY_PACKAGE: Final = "Of the Debian package wmsd."
PLAIN: Final = re.compile(r"/[\w./@+,=~-]*", re.ASCII)
"""A pattern for paths that need no quoting in a unit. wmsd does not accept other paths, because they would need
several kinds of quoting.
"""
FIRST_FREE_PORT: Final = 1024
LOW_PORT: Final = ("CapabilityBoundingSet=CAP_NET_BIND_SERVICE", "AmbientCapabilities=CAP_NET_BIND_SERVICE")
NO_CAPABILITY: Final = ("CapabilityBoundingSet=", "AmbientCapabilities=")


@dataclass(frozen=True, slots=True)
class Unit:
    origin: str
    program: Path
    user: str
    data: Path = STATE / "data"
    writable: tuple[Path, ...] = ()
    """The folders to which the service writes, except those inside the state folder."""
    has_low_port: bool = False
    """True if the service listens on a port that is reserved for the system."""

    def text(self) -> str:
        return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
            origin=self.origin,
            name=NAME,
            program=self.program,
            config=CONFIG,
            user=self.user,
            state=STATE,
            state_name=NAME,
            data=self.data,
            writable="".join(f"ReadWritePaths=-{path}\n" for path in self.writable),
            capabilities="\n".join(LOW_PORT if self.has_low_port else NO_CAPABILITY),
        )


def unit_of_package() -> Unit:
    return Unit(BY_PACKAGE, PROGRAM_OF_PACKAGE, NAME)


def user_of(unit_file: Path) -> str:
    """Return the user that the service of this unit runs as."""
    found = re.search(r"^User=(.+)$", unit_file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return found[1] if found else NAME


def is_plain(path: Path) -> bool:
    return PLAIN.fullmatch(str(path)) is not None


def folders(settings: Settings) -> list[Path]:
    """Return the folders that the server writes to according to its settings."""
    log = [Path(settings.log.file).parent] if settings.log.file else []
    return [Path(settings.server.data), Path(settings.backup.folder), *log]


def outside_of_state(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(path for path in paths if not path.is_relative_to(STATE)))


def has_low_port(settings: Settings) -> bool:
    return 0 < int(settings.server.listen.rpartition(":")[2]) < FIRST_FREE_PORT
