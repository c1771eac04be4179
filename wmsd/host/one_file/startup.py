"""The first steps of the one-file program.

The program locks its temporary folder. It also asks the system for a SIGTERM when its parent process ends. So the
program does not outlive the process that removes the folder. As soon as a server answers requests, the program no
longer needs the folder (`settle_temporary_folder`). Every command imports this module at its start, so it imports
little.
"""

import ctypes
import fcntl
import os
import signal
from pathlib import Path
from typing import Final

from wmsd.host.one_file import STARTED

PR_SET_PDEATHSIG: Final = 1
"""An option of prctl(2)."""


def hold(folder: str) -> int | None:
    """Lock the folder until the process ends. Return the descriptor, or None if the system refuses the lock.

    The lock also tells systemd-tmpfiles not to delete the files, however old they are.
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
    """Make the system send SIGTERM to this process when its parent ends, even if the parent is killed.

    If the parent has already ended, the system sends no signal, so the function itself ends this process. The real
    parent is the first process of the one-file program, which has the same command line as this process. If the
    present parent has a different command line, the real parent has ended.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is None:
        return
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    parent = _command_line(str(os.getppid()))
    if parent is not None and parent != _command_line("self"):
        os.kill(os.getpid(), signal.SIGTERM)


def _command_line(process: str) -> bytes | None:
    """Return the command line of the process, or None if the system does not show it."""
    try:
        return Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return None
