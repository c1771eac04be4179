"""The file system that a folder is on: its type, how it is mounted, and its room."""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

MOUNTS: Final = Path("/proc/self/mountinfo")
ESCAPED: Final = re.compile(r"\\([0-7]{3})")
"""Blanks and the like in the names of folders, proc_pid_mountinfo(5)."""
UNKNOWN: Final = "unknown"
WITHOUT_MODES: Final = ("vfat", "msdos", "exfat", "ntfs", "fuseblk", "cifs", "smb", "vboxsf")
"""How the names begin of types that show the same permissions for all files, as they are mounted."""


class FileSystem(NamedTuple):
    """`free` and `bytes` are of the file system; `free_files` is None where it makes as many as it needs."""

    type: str
    free: int
    bytes: int
    free_files: int | None = None
    is_read_only: bool = False
    refuses_programs: bool = False

    @property
    def has_modes(self) -> bool:
        """Whether chmod changes who may use a file."""
        return not self.type.startswith(WITHOUT_MODES)


def file_system_of(path: Path) -> FileSystem:
    """Of the folder, or of the nearest one above it that this user can see. Raises OSError."""
    place = _existing(path)
    status = os.statvfs(place)
    return FileSystem(
        type=type_of(place, _mounts()),
        free=status.f_bavail * status.f_frsize,
        bytes=status.f_blocks * status.f_frsize,
        free_files=status.f_favail if status.f_files else None,
        is_read_only=bool(status.f_flag & os.ST_RDONLY),
        refuses_programs=bool(status.f_flag & os.ST_NOEXEC),
    )


def type_of(place: Path, mounts: str) -> str:
    """The type of the mount that a folder is in: the one with the longest name, and the last of those."""
    found, longest = UNKNOWN, -1
    for line in mounts.splitlines():
        head, separator, tail = line.partition(" - ")
        fields, types = head.split(" "), tail.split(" ")
        if not separator or len(fields) < 5:
            continue
        at = Path(ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4]))
        if place.is_relative_to(at) and len(at.parts) >= longest:
            found, longest = types[0], len(at.parts)
    return found


def _existing(path: Path) -> Path:
    place = path.resolve()
    while not os.access(place, os.F_OK):
        place = place.parent
    return place


def _mounts() -> str:
    try:
        return MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
