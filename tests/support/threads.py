"""Threads that end on their own, shortly after their work."""

import asyncio
import threading

LONGEST = 10.0


async def no_threads_beside(before: set[threading.Thread]) -> None:
    """Wait until all threads that started since `before` have ended."""
    async with asyncio.timeout(LONGEST):
        while set(threading.enumerate()) - before:  # noqa: ASYNC110  # nothing reports the end of a thread
            await asyncio.sleep(0.01)
