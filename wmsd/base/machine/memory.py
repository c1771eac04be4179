"""This machine's memory: how much it is, how the C library shares it among threads, and giving it back."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

GROUP_OF_THIS_PROCESS: Final = Path("/proc/self/cgroup")
GROUPS: Final = Path("/sys/fs/cgroup")
ARENAS: Final = 4
"""Each is address space of 64 MB. With as many as there are threads, the C library keeps more memory free."""
MAPPED_BYTES: Final = 512 * 1024
"""A block of so many bytes goes back to the system when it is freed. By itself, the C library raises this bound
with each large one, and keeps their memory.
"""
M_ARENA_MAX: Final = -8
M_MMAP_THRESHOLD: Final = -3
"""mallopt(3)."""


def machine_memory() -> int:
    """The bytes of memory that this process can have: the machine's, or what its control group allows."""
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits(GROUP_OF_THIS_PROCESS, GROUPS)])


def limits(group_of_process: Path, groups: Path) -> Iterator[int]:
    """The limits of a process's control group and of those above it, in bytes (cgroups(7), version 2)."""
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
        if limit.isdecimal():  # else "max"
            yield int(limit)


def resident_memory() -> int:
    """The bytes of memory that this process has now (proc(5)); 0 where nobody tells."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def keep_little() -> None:
    """Has the C library (glibc) keep little free memory: all threads share a few arenas, and large blocks go back.

    A thread that gets no more memory from the system then takes it from another's arena. With arenas left to
    make, it would try to make one and fail, and Python aborts when there is no room even for the error.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENAS)
        mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def give_memory_back() -> None:
    """Has the C library give the memory that it keeps free back to the system, where it can (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
