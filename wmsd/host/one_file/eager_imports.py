"""Imports all modules from the temporary folder. So a running server continues if a person deletes or unmounts the
folder.
"""

import asyncio
import importlib
import logging
import time
import zipfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

from wmsd.base.plurals import count_of
from wmsd.host import own_program
from wmsd.host.one_file.leftovers import remove_left

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


async def settle_temporary_folder() -> None:
    """Make the server independent of its temporary folder, and remove the folders of programs that were killed.

    Do nothing if this is not the one-file program. Only the one-file program unpacks itself.
    """
    folder = own_program.unpacked()
    if folder is not None and own_program.packing_form() == "file":
        await asyncio.to_thread(_settle, folder)


def _settle(folder: Path) -> None:
    try:
        import_all(folder)
        if removed := remove_left(folder.parent):
            folders = count_of(removed, "temporary folder")
            LOG.info("removed %s in %s, left by a wmsd that was killed", folders, folder.parent)
    except OSError as error:
        LOG.warning("the temporary folder %s cannot be read: %s", folder, error.strerror)


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
