"""What the program does first: it holds its folder, and its life is tied to that of the process that removes it.

Every command imports this at its start.
"""

import ctypes
import fcntl
import os
import signal
from pathlib import Path
from typing import Final

from wmsd.host.one_file import STARTED

PR_SET_PDEATHSIG: Final = 1
"""prctl(2)."""


def hold(folder: str) -> int | None:
    """Locks the folder until the process ends. Returns the descriptor; None where the system refuses the lock.

    The lock also tells systemd-tmpfiles that the files are no litter, however old they get.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.close(os.open(STARTED, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=descriptor))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def end_with_parent() -> None:
    """Has the system send SIGTERM to this process when its parent ends, also one that is killed.

    Nobody tells of a parent that had ended before, so it is looked at: it was started by the same words.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is None:
        return
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    parent = _command_line(str(os.getppid()))
    if parent is not None and parent != _command_line("self"):
        os.kill(os.getpid(), signal.SIGTERM)


def _command_line(process: str) -> bytes | None:
    """None where the system does not show it."""
    try:
        return Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return None
