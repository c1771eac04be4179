"""The priority of threads on the processor."""

import os
import threading
from contextlib import suppress
from typing import Final

GIVING_WAY: Final = 10
"""A tenth of the processor's time that others have, when both want it."""


def give_way() -> None:
    """Has the calling thread, and those that it starts, give way to the event loop. Linux keeps a priority for
    each thread (sched(7)). Where the system forbids that, as a service manager can, they work as all others.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + GIVING_WAY)
