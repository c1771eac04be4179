"""The memory of the machine: its size, how the C library shares it among threads, and how to release it."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

GROUP_OF_THIS_PROCESS: Final = Path("/proc/self/cgroup")
GROUPS: Final = Path("/sys/fs/cgroup")
ARENAS: Final = 4
"""The maximum number of arenas. An arena is a memory area from which threads allocate, with 64 MB of address
space. By default, each thread may have an arena, and the C library then retains more free memory.
"""
MAPPED_BYTES: Final = 512 * 1024
"""The size from which a memory block is returned to the system when it is freed. By default, each freed large
block raises this limit, and the C library then retains such blocks.
"""
M_ARENA_MAX: Final = -8
M_MMAP_THRESHOLD: Final = -3
"""M_ARENA_MAX and M_MMAP_THRESHOLD are parameter numbers of mallopt(3)."""


def machine_memory() -> int:
    """Return the bytes of memory that this process can use. This is the memory of the machine, or the limit of the
    process's control group if that is lower.
    """
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits(GROUP_OF_THIS_PROCESS, GROUPS)])


def limits(group_of_process: Path, groups: Path) -> Iterator[int]:
    """Yield the memory limits, in bytes, of a process's control group and of the groups above this group
    (cgroups(7), version 2).
    """
    try:
        name = group_of_process.read_text(encoding="utf-8").rpartition("0::/")[2].strip()
    except OSError:
        return
    own = groups / name
    for group in (own, *own.parents):
        try:
            limit = (group / "memory.max").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if limit.isdecimal():  # otherwise "max"
            yield int(limit)


def resident_memory() -> int:
    """Return the bytes of memory that this process has now (proc(5)), or 0 if the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def keep_little() -> None:
    """Limit the free memory that the C library (glibc) retains. Threads share a few arenas, and large blocks go
    back to the system.

    Few arenas also help when the system gives no more memory, because a thread then uses an existing arena. With
    many arenas, the C library tries to create another arena, and fails. Python aborts if there is not even memory
    for the error.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENAS)
        mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def give_memory_back() -> None:
    """Release the free memory of the C library to the system, if the C library can do so (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
