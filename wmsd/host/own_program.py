"""How this program starts itself again, for work in a process of its own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

UNPACKED: Final = "_PYI_"
"""How the variables begin that the one file has set when it unpacked itself."""
OWN: Final = ("WMSD_", "PYINSTALLER_", UNPACKED)
LIBRARIES: Final = "LD_LIBRARY_PATH"
Packing = Literal["sources", "file", "folder"]


def unpacked() -> Path | None:
    """Where the libraries of a packed program are; None when it runs from its sources."""
    folder = getattr(sys, "_MEIPASS", None)
    return None if folder is None else Path(folder)


def packing_form() -> Packing:
    """How this program is packed: not at all, as one file that unpacks itself, or as a folder."""
    folder = unpacked()
    if folder is None:
        return "sources"
    return "folder" if folder.parent == Path(sys.executable).resolve().parent else "file"


def command(*arguments: str, data: Path, config_file: Path | None) -> list[str]:
    """Starts a command of this program, in the same data folder and with the same settings."""
    program = [sys.executable]
    if not is_packed():
        program += ["-P", "-c", "from wmsd.interfaces.cli.main import main; main()"]
    config = [] if config_file is None else ["--config", str(config_file)]
    return [*program, *arguments, "--data", str(data), *config]


def is_packed() -> bool:
    """Whether it is an executable, and not sources that a Python runs."""
    return packing_form() != "sources"


def environment() -> Mapping[str, str]:
    """A packed program unpacks itself anew in it."""
    return {**os.environ, "PYINSTALLER_RESET_ENVIRONMENT": "1"}


def environment_of_others(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """That of another program: without the service's settings, and without the libraries of the one file."""
    found = {name: value for name, value in given.items() if not name.startswith(OWN)}
    original = found.pop(f"{LIBRARIES}_ORIG", None)
    if original is not None:
        found[LIBRARIES] = original
    elif any(name.startswith(UNPACKED) for name in given):
        found.pop(LIBRARIES, None)
    return found
