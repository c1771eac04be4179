"""What goes on in the background of the sender, so that a stop can wait for it."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any


class Tasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def wait(self, seconds: float) -> None:
        """For all of them, also for those that begin meanwhile; no longer than that."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            await asyncio.wait(
                self._running, timeout=until - time.monotonic(), return_when=asyncio.FIRST_COMPLETED
            )
