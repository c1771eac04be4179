"""Threads that end by themselves, a moment after what they were for."""

import asyncio
import threading

LONGEST = 10.0


async def no_threads_beside(before: set[threading.Thread]) -> None:
    """Waits for the end of those that have begun since."""
    async with asyncio.timeout(LONGEST):
        while set(threading.enumerate()) - before:  # noqa: ASYNC110  # nothing tells of a thread's end
            await asyncio.sleep(0.01)
