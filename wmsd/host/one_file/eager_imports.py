"""Imports all modules from the temporary folder. So a running server continues if a person deletes or unmounts the
folder.
"""

import importlib
import logging
import time
import zipfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

LOG = logging.getLogger("wmsd.serve")
PAUSE_SECONDS: Final = 0.001
"""The pause after each module. While Python loads a library, wmsd answers no requests; it answers them in the
pauses.
"""
LIBRARIES: Final = "lib-dynload"
"""The folder with compiled modules of Python's standard library. It is not a package, so module names do not
contain its name.
"""
BASE: Final = "base_library.zip"
"""The file in which PyInstaller puts the modules that Python needs at its start. All other modules are read from
the executable.
"""


def import_all(folder: Path) -> None:
    for name in modules(folder):
        try:
            importlib.import_module(name)
        except ImportError as error:
            LOG.debug("%s cannot be imported: %s", name, error)
        time.sleep(PAUSE_SECONDS)


def modules(folder: Path) -> Iterator[str]:
    """Yield the names of the modules that Python reads from the folder."""
    with zipfile.ZipFile(folder / BASE) as base:
        for path in map(Path, base.namelist()):
            yield _name(path.parent if path.stem == "__init__" else path.with_suffix(""))
    for file in sorted(folder.rglob("*.so")):
        suffix = next(each for each in EXTENSION_SUFFIXES if file.name.endswith(each))
        path = file.relative_to(folder).with_name(file.name.removesuffix(suffix))
        yield path.name if path.parent.name == LIBRARIES else _name(path)


def _name(path: Path) -> str:
    return ".".join(path.parts)
