"""Faults in which the machine has run out of threads, memory or open files."""

import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from tests.support.faults.fault import EVERYBODY, Fault, Running
from tests.support.faults.scene import LATE
from tests.support.injected import failing


@contextmanager
def limited(pid: int, kind: int, most: int) -> Iterator[None]:
    soft, hard = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (most, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, (soft, hard))


def no_more_files(running: Running) -> AbstractContextManager[None]:
    return limited(running.pid, resource.RLIMIT_NOFILE, 3)


def no_more_memory(running: Running) -> AbstractContextManager[None]:
    """Limit the process to the memory pages that it has now."""
    pages = int(Path(f"/proc/{running.pid}/statm").read_text().split()[0])
    return limited(running.pid, resource.RLIMIT_AS, pages * resource.getpagesize())


def no_more_threads(running: Running) -> AbstractContextManager[None]:
    """Refuse new threads as the operating system does.

    The system's limit does not apply to root, so strace makes the system calls fail instead.
    """
    return failing(running.pid, "clone,clone3", "EAGAIN")


SHORTAGES: Final = (
    Fault("no more files can be opened", no_more_files, (LATE,), late=(LATE,)),
    Fault("no more threads can be started", no_more_threads, (LATE,), late=(LATE,)),
    Fault("no more memory can be allocated", no_more_memory, EVERYBODY, late=(LATE,), is_heavy=True),
)
