"""Reaps processes whose own parent has ended, where they are left to this one.

In a container without an init, the program is process 1, and gets what a command of the settings leaves behind,
such as a program that `backup.after` has started with `&`. Once it ends, it stays in the table of processes until
its parent has asked how.

Whoever starts a process here waits for it, and asks at once. So one that has ended by the first look, and is still
there at the next, was left.
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
"""prctl(2)."""
ENDED: Final = "Z"


async def reap_orphans() -> None:
    """Does so for ever, where orphans come to this process; elsewhere the system's process 1 does it."""
    if os.getpid() != 1:
        if own_program.packing_form() != "file" or os.getppid() != 1:
            return
        adopt_orphans()  # process 1 is what has unpacked this program, and waits for it alone
    orphans = Orphans()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        orphans.look()


def adopt_orphans() -> None:
    """Has the system leave orphans among the descendants of this process to it."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Orphans:
    def __init__(self) -> None:
        self._seen: set[tuple[int, str]] = set()
        """What had ended by the last look: the process, and when it was started."""

    def look(self) -> None:
        ended = set(_ended())
        for process, _ in ended & self._seen:
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
        self._seen = ended


def _ended() -> Iterator[tuple[int, str]]:
    """The children of the first thread that have ended: the system leaves orphans to that one."""
    own = os.getpid()
    with suppress(OSError):
        for each in Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split():
            with suppress(OSError):
                stat = Path(f"/proc/{each}/stat").read_text(encoding="ascii", errors="replace")
                fields = stat.rpartition(")")[2].split()
                if fields[0] == ENDED:
                    yield int(each), fields[19]
