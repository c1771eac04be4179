"""Restarts the program when its event loop is stuck, for example after a shortage of memory."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from wmsd.base.machine.shortages import is_shortage

LOG = logging.getLogger("wmsd.serve")
LOOK_SECONDS: Final = 0.5
MISSED_LOOKS: Final = 10
"""If this many checks in a row fail, the loop counts as stuck. While the process is suspended, no checks are made,
so this time does not count.
"""
STUCK: Final = "no request was answered for %d s: wmsd restarts. All acknowledged changes are on disk."


class Watchdog:
    """Watches the event loop from a thread. The thread calls `alive` while the loop works, and `start_again` when
    the loop is stuck. `start_again` replaces the process, and returns only if that fails.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, start_again: Callable[[], None], alive: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._start_again = start_again
        self._alive = alive
        self._has_moved = True
        self._running = threading.Lock()
        """Locked until the watchdog stops. It is a lock and not an event, because waiting for a lock needs no
        memory.
        """
        self._thread = threading.Thread(target=self._watch, name="wmsd-watchdog", daemon=True)

    def start(self) -> None:
        self._running.acquire()
        self._thread.start()

    def stop(self) -> None:
        self._running.release()

    def _watch(self) -> None:
        missed, is_told = 0, False
        while not self._running.acquire(timeout=LOOK_SECONDS):
            try:
                if self._has_moved or _waits_for_disk():
                    if is_told:
                        LOG.info("requests are answered again: wmsd continues without a restart")
                    missed, is_told = 0, False
                    self._alive()
                elif is_told:
                    self._start_again()
                else:
                    missed += 1
                self._has_moved = False
                self._loop.call_soon_threadsafe(self._move)
                if missed >= MISSED_LOOKS and not is_told:
                    is_told = True  # one more check follows, because the loop may have waited for the log itself
                    LOG.critical(STUCK, LOOK_SECONDS * MISSED_LOOKS)
            except Exception as error:
                if self._loop.is_closed():
                    return
                if not is_shortage(error):
                    raise
                missed = 0  # the loop could not be checked

    def _move(self) -> None:
        self._has_moved = True


def _waits_for_disk() -> bool:
    """Return True if the loop's thread waits for the disk. A restart does not help in this state (state D in
    `proc_pid_stat`(5)).
    """
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(") ")[2].startswith("D")
