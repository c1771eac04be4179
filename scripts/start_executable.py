"""The first module that runs in dist/wmsd after it has unpacked itself, and in the program of the Debian package.

The program in the package is a folder, so it is not unpacked (see wmsd.spec).
"""

import marshal
import mmap
import sys
import zlib
from functools import cache
from io import BytesIO
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

# Modules of PyInstaller, which exist only in an executable.
from pyimod01_archive import PYZ_ITEM_NSPKG  # type: ignore[import-not-found]
from pyimod02_importers import PyiFrozenLoader, pyz_archive  # type: ignore[import-not-found]

from wmsd.host.one_file.startup import end_with_parent, hold
from wmsd.host.own_program import packing_form
from wmsd.interfaces.cli.main import open_those_closed

if TYPE_CHECKING:
    from zipfile import Path as ZipPath
    from zipfile import ZipFile


def keep_modules() -> None:
    """Read modules from the file that was started, even if the file is replaced or removed.

    Without this, PyInstaller opens the file again by its name for each module. A server whose executable was
    replaced by a newer one would then fail at late imports, and end when the file is removed.
    """
    with Path(pyz_archive._filename).open("rb") as file:
        executable = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def extract(name: str, raw: bool = False) -> CodeType | bytes | None:
        kind, offset, length = pyz_archive.toc[name]
        if kind == PYZ_ITEM_NSPKG:
            return None
        start = pyz_archive._start_offset + offset
        blob = zlib.decompress(executable[start : start + length])
        return blob if raw else marshal.loads(blob)

    pyz_archive.extract = extract


class Files:
    """The data files of a package, for importlib.resources. wmsd.spec puts these files into a module."""

    def __init__(self, package: str) -> None:
        self._package = package

    def files(self) -> "ZipPath":
        from zipfile import Path  # imported here, because `wmsd version` reads no such file

        return Path(archive(), f"{self._package.replace('.', '/')}/")


@cache
def archive() -> "ZipFile":
    from zipfile import ZipFile

    from wmsd_files import ARCHIVE  # type: ignore[import-not-found]  # made by wmsd.spec

    return ZipFile(BytesIO(ARCHIVE))


def read_files_of_modules() -> None:
    others = PyiFrozenLoader.get_resource_reader

    def reader(loader: PyiFrozenLoader, package: str) -> Any:
        return Files(package) if package.split(".")[0] == "wmsd" else others(loader, package)

    PyiFrozenLoader.get_resource_reader = reader


open_those_closed()
keep_modules()
read_files_of_modules()
if packing_form() == "file":
    end_with_parent()
    hold(sys._MEIPASS)  # type: ignore[attr-defined]

from wmsd.interfaces.cli.main import main  # noqa: E402  (imported after the changes above)

main()
