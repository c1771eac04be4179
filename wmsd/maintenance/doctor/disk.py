"""Findings about the disks: free space, durability and speed."""

import os
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from wmsd.base.machine.disk import MOST_REFUSED
from wmsd.base.machine.regular_files import reason_of
from wmsd.contract.findings import REASONS, FindingKind, Found
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.maintenance.doctor.file_systems import FileSystem
from wmsd.maintenance.doctor.situation import Situation

NETWORKED: Final = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "fuse", "virtiofs", "vboxsf", "davfs")
"""Prefixes of the names of file system types. SQLite cannot rely on the locks and the shared memory of these file
systems.
"""
LOCAL: Final = ("fuseblk",)
"""Types of local file systems whose names begin with a prefix in `NETWORKED`. For example, NTFS has the type
`fuseblk`.
"""
LAYERED: Final = ("overlay", "aufs")
IN_MEMORY: Final = ("tmpfs", "ramfs", "devtmpfs")
LEAST_FREE_FILES: Final = 1000
SYNCS: Final = 9
SLOWEST_SYNC_SECONDS: Final = 0.05
A_PAGE: Final = b"\0" * 4096
MEGABYTE: Final = 1_000_000

DISK_FULL: Final = FindingKind(
    "disk-full",
    "wrong",
    "The disk of {file} is nearly full: {free} MB are free.",
    "Free some space: wmsd needs {least} MB. When the disk is too full, wmsd stores no new data.",
)
DISK_LOW: Final = FindingKind(
    "disk-low",
    "warning",
    "The disk of {file} has less free space than the data takes: {free} MB are free, and the data "
    "takes {data} MB.",
    "Free some space, or use a larger disk: an upgrade and the restore of a backup need space for a second copy.",
)
BACKUPS_LOW: Final = FindingKind(
    "backup-disk-low",
    "warning",
    "The disk of the backup folder {file} is nearly full: {free} MB are free.",
    "Free some space there, keep fewer backups (backup.keep_daily, backup.keep_weekly), or set backup.folder "
    "to a folder on another disk.",
)
FEW_FILES: Final = FindingKind(
    "disk-out-of-files",
    "wrong",
    "The disk of {file} can store only {free} more files, whatever their size.",
    (
        "On that disk, delete files that nobody needs, first in folders with many small files; df -i shows "
        "how many more files are possible."
    ),
)
DISK_READ_ONLY: Final = FindingKind(
    "disk-read-only",
    "warning",
    "The disk of {file} is mounted read-only.",
    "If you examine only a copy of the data, change nothing. Otherwise check in the system log whether the "
    "disk is failing, and mount the disk for writing.",
)
ON_NETWORK: Final = FindingKind(
    "disk-on-network",
    "wrong",
    "{file} is on a network file system or on another machine ({type}).",
    "Move the data to a local disk of this machine: on other file systems, SQLite's log and locks do not work, "
    "and files get damaged. Backups may stay where they are.",
)
ON_LAYERS: Final = FindingKind(
    "disk-in-container",
    "warning",
    "{file} is stored inside a container ({type}), not on a volume.",
    "Put the data folder on a volume: data inside a container is lost when the container is created again.",
)
ONLY_IN_MEMORY: Final = FindingKind(
    "disk-in-memory",
    "warning",
    "{file} is stored only in memory ({type}), not on a disk.",
    "Put the data folder on a disk: data in memory is lost when the machine stops.",
)
SLOW_SYNC: Final = FindingKind(
    "disk-slow",
    "warning",
    "The disk of {file} is slow: it takes {milliseconds} ms to confirm a write.",
    "Use a faster disk: each change waits for the disk. Memory cards and network disks are often slow.",
)
TEMPORARY_UNUSABLE: Final = FindingKind(
    "temporary-unusable",
    "wrong",
    "No file can be created in the temporary folder {file}: {reason}.",
    "Give this user permission to write there, or set the environment variable TMPDIR to another "
    "folder. Imports need the temporary folder.",
    words=REASONS,
)
TEMPORARY_LOW: Final = FindingKind(
    "temporary-low",
    "warning",
    "The temporary folder {file} is nearly full: {free} MB are free.",
    "Free some space there, or set the environment variable TMPDIR to another folder. Otherwise "
    "wmsd refuses large imports.",
)
TEMPORARY_REFUSES: Final = FindingKind(
    "temporary-noexec",
    "warning",
    "Programs cannot run in the temporary folder {file} (noexec), but wmsd unpacks itself there.",
    "Set the environment variable TMPDIR to another folder before you start the server again. If "
    "wmsd is a service, set it in the unit of the service.",
)
TEMPORARY_ON_NETWORK: Final = FindingKind(
    "temporary-on-network",
    "warning",
    "The temporary folder {file} is on a network file system or on another machine ({type}).",
    "Set the environment variable TMPDIR to a folder on a disk of this machine. In other folders, imports "
    "are slow or fail.",
)
KINDS: Final = (
    *(DISK_FULL, DISK_LOW, BACKUPS_LOW, FEW_FILES, DISK_READ_ONLY, ON_NETWORK, ON_LAYERS, ONLY_IN_MEMORY),
    *(SLOW_SYNC, TEMPORARY_UNUSABLE, TEMPORARY_LOW, TEMPORARY_REFUSES, TEMPORARY_ON_NETWORK),
)


def findings(at: Situation) -> Found:
    data, on = at.data, at.file_system_of(at.data)
    yield from _room(at, on)
    if on.free_files is not None and on.free_files < LEAST_FREE_FILES:
        yield FEW_FILES.of(data, free=on.free_files)
    if on.is_read_only:
        yield DISK_READ_ONLY.of(data)
    for types, kind in ((LAYERED, ON_LAYERS), (IN_MEMORY, ONLY_IN_MEMORY)):
        if on.type in types:
            yield kind.of(data, type=on.type)
    if is_networked(on.type):
        yield ON_NETWORK.of(data, type=on.type)
    backups = at.file_system_of(at.backups)
    if at.settings.backup.every != "never" and backups.free < MOST_REFUSED:
        yield BACKUPS_LOW.of(at.backups, free=backups.free // MEGABYTE)
    yield from _temporary(at)


def findings_of_speed(at: Situation) -> Found:
    seconds = sync_seconds(at.data)
    if seconds is not None and seconds > SLOWEST_SYNC_SECONDS:
        yield SLOW_SYNC.of(at.data, milliseconds=round(seconds * 1000))


def is_networked(type_name: str) -> bool:
    return type_name.startswith(NETWORKED) and type_name not in LOCAL


def _room(at: Situation, on: FileSystem) -> Found:
    stored = sum(map(bytes_on_disk, at.files))
    free = on.free // MEGABYTE
    if on.free < MOST_REFUSED:
        yield DISK_FULL.of(at.data, free=free, least=MOST_REFUSED // MEGABYTE)
    elif on.free < stored + MOST_REFUSED:
        yield DISK_LOW.of(at.data, free=free, data=stored // MEGABYTE)


def _temporary(at: Situation) -> Found:
    folder = at.temporary
    try:
        on = at.file_system_of(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(A_PAGE)
    except OSError as error:
        yield TEMPORARY_UNUSABLE.of(folder, reason=reason_of(error))
        return
    if on.free < MOST_REFUSED:
        yield TEMPORARY_LOW.of(folder, free=on.free // MEGABYTE)
    if on.refuses_programs and at.is_packed:
        yield TEMPORARY_REFUSES.of(folder)
    if is_networked(on.type):
        yield TEMPORARY_ON_NETWORK.of(folder, type=on.type)


def sync_seconds(folder: Path) -> float | None:
    """Return how many seconds the disk takes to confirm the write of a page, as the median of several writes.
    Return None if the folder is not writable.

    The test file has no name, so it is invisible, and disappears when it is closed.
    """
    if not os.access(folder, os.W_OK) or not folder.stat().st_mode & 0o200:
        return None
    taken: list[float] = []
    unnamed = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
    with suppress(OSError), os.fdopen(os.open(folder, unnamed, 0o600), "wb", 0) as opened:
        for _ in range(SYNCS):
            began = time.perf_counter()
            os.pwrite(opened.fileno(), A_PAGE, 0)
            os.fsync(opened.fileno())
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) if taken else None
