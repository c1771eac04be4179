"""The time zone of the machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wmsd.base.time_zones import names

ROOT: Final = Path("/")
FOLDER: Final = "zoneinfo/"
"""Stands in the path of a file of a time zone before its name."""
LONGEST: Final = 256
"""Characters of /etc/timezone that are read."""


def machine_time_zone(environment: Mapping[str, str] = os.environ, root: Path = ROOT) -> str | None:
    """Its name: as TZ says, or else the link /etc/localtime, or else /etc/timezone. None: nothing says it, or by a
    rule or a file that has no name.
    """
    said = environment.get("TZ")
    if said is not None:
        return _named(said.removeprefix(":") or "UTC")
    try:
        return _named(str((root / "etc/localtime").readlink()))
    except OSError:  # not there, or no link: then it is a copy, whose name may stand beside it
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
