"""The time zone of the machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wmsd.base.time_zones import names

ROOT: Final = Path("/")
FOLDER: Final = "zoneinfo/"
"""In the path of a time zone's file, the name of the zone follows this folder:
/usr/share/zoneinfo/Europe/Bucharest.
"""
LONGEST: Final = 256
"""The number of characters of /etc/timezone that are read."""


def machine_time_zone(environment: Mapping[str, str] = os.environ, root: Path = ROOT) -> str | None:
    """Return the name of the machine's time zone, or None if the name cannot be found.

    The sources are the variable TZ, the link /etc/localtime and /etc/timezone, in this order. The name cannot be
    found if TZ contains a rule. It can also be missing if /etc/localtime is a copy of a zone's file and not a
    link.
    """
    said = environment.get("TZ")
    if said is not None:
        return _named(said.removeprefix(":") or "UTC")
    try:
        return _named(str((root / "etc/localtime").readlink()))
    except OSError:  # missing, or not a link but a copy, whose name may be in another file
        return _noted(root / "etc/timezone")


def _noted(file: Path) -> str | None:
    try:
        with file.open(encoding="ascii") as text:
            return _named(text.read(LONGEST).strip())
    except (OSError, UnicodeDecodeError):
        return None


def _named(text: str) -> str | None:
    name = text.rpartition(FOLDER)[2].removeprefix("posix/")
    return name if name in names() else None
