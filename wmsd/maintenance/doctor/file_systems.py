"""The file system of a folder: its type, mount options and free space."""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

MOUNTS: Final = Path("/proc/self/mountinfo")
ESCAPED: Final = re.compile(r"\\([0-7]{3})")
"""Octal escapes of blanks and similar characters in folder names, proc_pid_mountinfo(5)."""
UNKNOWN: Final = "unknown"
WITHOUT_MODES: Final = ("vfat", "msdos", "exfat", "ntfs", "fuseblk", "cifs", "smb", "vboxsf")
"""The prefixes of types of file systems that have the same permissions for all files, set by the mount."""


class FileSystem(NamedTuple):
    """A file system. `bytes` is its size and `free` its free space, both in bytes. `free_files` is the number of
    files that can still be created, or None if the file system does not limit it. `refuses_programs` is True if no
    program on the file system can be run.
    """

    type: str
    free: int
    bytes: int
    free_files: int | None = None
    is_read_only: bool = False
    refuses_programs: bool = False

    @property
    def has_modes(self) -> bool:
        """Whether the file system has separate permissions for each file, which chmod can change."""
        return not self.type.startswith(WITHOUT_MODES)


def file_system_of(path: Path) -> FileSystem:
    """Return the file system of the folder, or of the nearest folder above it that this user can see. Raise
    OSError if the system cannot read it.
    """
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
    """Return the type of the file system that contains the folder `place`, such as ext4. Return UNKNOWN if no
    mount is found.

    `mounts` is the text of /proc/self/mountinfo. Of all mount points that contain `place`, the one with the
    longest path counts. If it occurs several times, the last one in the text counts.
    """
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
