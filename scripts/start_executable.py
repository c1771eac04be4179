"""Where dist/wmsd starts, once it has unpacked itself into a temporary folder (see wmsd.spec)."""

import fcntl
import marshal
import mmap
import os
import sys
import zlib
from pathlib import Path
from types import CodeType

# PyInstaller's own, there only in an executable.
from pyimod01_archive import PYZ_ITEM_NSPKG  # type: ignore[import-not-found]
from pyimod02_importers import pyz_archive  # type: ignore[import-not-found]


def keep_modules() -> None:
    """Reads modules from the file that was started, whatever becomes of its name.

    By itself PyInstaller opens that name again for each module. A server whose executable has been replaced by a
    newer one would then fail at what it imports late, and end when the file is gone.
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


def keep_files() -> int:
    """Holds the lock that tells systemd-tmpfiles that the unpacked files are no litter, however old they get."""
    folder = os.open(sys._MEIPASS, os.O_RDONLY | os.O_DIRECTORY)  # type: ignore[attr-defined]
    fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return folder


keep_modules()
keep_files()

from wmsd.interfaces.cli.main import main  # noqa: E402  (now it is imported as above)

main()
