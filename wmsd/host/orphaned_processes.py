"""Reaps processes whose parent has ended, if the system has made this process their parent.

In a container without an init, the program is process 1. It then becomes the parent of processes that a command in
the settings leaves behind. An example is a program that `backup.after` has started with `&`. An ended process
stays in the table of processes until its parent has read its exit status.

Code that starts a process in wmsd waits for it and reads its status immediately. So a process is an orphan if two
checks in a row find it ended.
"""

import asyncio
import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from wmsd.host import own_program

LOOK_SECONDS: Final = 10.0
PR_SET_CHILD_SUBREAPER: Final = 36
"""An option of prctl(2)."""
ENDED: Final = "Z"


async def reap_orphans() -> None:
    """Reap orphans, forever, if this process becomes their parent. Otherwise return: the system's own process 1
    reaps them.
    """
    if os.getpid() != 1:
        if own_program.packing_form() != "file" or os.getppid() != 1:
            return
        adopt_orphans()  # process 1 is the process that has unpacked this program, and waits only for the program
    orphans = Orphans()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        orphans.look()


def adopt_orphans() -> None:
    """Make this process the parent of its descendants whose own parent ends."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Orphans:
    def __init__(self) -> None:
        self._seen: set[tuple[int, str]] = set()
        """The processes that had ended at the last check, each with its id and its start time."""

    def look(self) -> None:
        ended = set(_ended())
        for process, _ in ended & self._seen:
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
        self._seen = ended


def _ended() -> Iterator[tuple[int, str]]:
    """Yield the children of this process that have ended, each with its id and its start time.

    The system gives orphans to the first thread of this process, so only the children of this thread are read.
    """
    own = os.getpid()
    with suppress(OSError):
        for each in Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split():
            with suppress(OSError):
                stat = Path(f"/proc/{each}/stat").read_text(encoding="ascii", errors="replace")
                fields = stat.rpartition(")")[2].split()
                if fields[0] == ENDED:
                    yield int(each), fields[19]
