"""Starts this program again, for work in a separate process."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

UNPACKED: Final = "_PYI_"
"""The prefix of environment variables that PyInstaller sets when the one-file program unpacks itself."""
OWN: Final = ("WMSD_", "PYINSTALLER_", UNPACKED)
LIBRARIES: Final = "LD_LIBRARY_PATH"
Packing = Literal["sources", "file", "folder"]


def unpacked() -> Path | None:
    """Return the folder with the libraries of a packed program, or None if the program runs from its sources."""
    folder = getattr(sys, "_MEIPASS", None)
    return None if folder is None else Path(folder)


def packing_form() -> Packing:
    """Return how this program is packed: not at all, as one file that unpacks itself, or as a folder."""
    folder = unpacked()
    if folder is None:
        return "sources"
    return "folder" if folder.parent == Path(sys.executable).resolve().parent else "file"


def command(*arguments: str, data: Path, config_file: Path | None) -> list[str]:
    """Return the command line that starts this program with `arguments`, with the given data folder and settings
    file.
    """
    program = [sys.executable]
    if not is_packed():
        program += ["-P", "-c", "from wmsd.interfaces.cli.main import main; main()"]
    config = [] if config_file is None else ["--config", str(config_file)]
    return [*program, *arguments, "--data", str(data), *config]


def is_packed() -> bool:
    """Return True if this program is an executable and does not run from its sources."""
    return packing_form() != "sources"


def environment() -> Mapping[str, str]:
    """Return the environment for starting this program again. It makes a packed program unpack itself again."""
    return {**os.environ, "PYINSTALLER_RESET_ENVIRONMENT": "1"}


def environment_of_others(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for starting any other program, made from the environment `given`. It has no settings
    of wmsd, and no path to the libraries of the one-file program.
    """
    found = {name: value for name, value in given.items() if not name.startswith(OWN)}
    original = found.pop(f"{LIBRARIES}_ORIG", None)
    if original is not None:
        found[LIBRARIES] = original
    elif any(name.startswith(UNPACKED) for name in given):
        found.pop(LIBRARIES, None)
    return found
