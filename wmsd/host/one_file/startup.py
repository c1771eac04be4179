"""What the one-file program does first: it holds its folder, and its life is tied to that of the process that
removes it. A server then settles the rest once it serves.

Every command imports this at its start.
"""

import asyncio
import ctypes
import fcntl
import logging
import os
import signal
from pathlib import Path
from typing import Final

from wmsd.base.plurals import count_of
from wmsd.host import own_program
from wmsd.host.one_file import STARTED
from wmsd.host.one_file.eager_imports import import_all
from wmsd.host.one_file.leftovers import remove_left

PR_SET_PDEATHSIG: Final = 1
"""prctl(2)."""
LOG = logging.getLogger("wmsd.serve")


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


async def settle_temporary_folder() -> None:
    """Makes the server independent of its folder, and removes those of programs that were killed.

    Only the one-file program has such a folder.
    """
    folder = own_program.unpacked()
    if folder is not None and own_program.packing_form() == "file":
        await asyncio.to_thread(_settle, folder)


def _settle(folder: Path) -> None:
    try:
        import_all(folder)
        if removed := remove_left(folder.parent):
            folders = count_of(removed, "temporary folder")
            LOG.info("removed %s in %s, of a wmsd that was killed", folders, folder.parent)
    except OSError as error:
        LOG.warning("the temporary folder %s cannot be looked at: %s", folder, error.strerror)
