"""Background tasks of the sender, so that a stop can wait for them."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

from wmsd.base.repeated_failures import Complaints

LOG = logging.getLogger("wmsd.webhooks")


class Tasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self._complaints = Complaints(LOG)

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._complaints.failed("a background task of the sender failed", error)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def wait(self, seconds: float) -> None:
        """Waits for all of them, also for those that begin meanwhile, but no longer than that."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            await asyncio.wait(
                self._running, timeout=until - time.monotonic(), return_when=asyncio.FIRST_COMPLETED
            )
