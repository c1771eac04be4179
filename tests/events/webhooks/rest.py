"""Checks that a sender is at rest: it has nothing to scan, and none of its tasks is left."""

import asyncio
from collections import Counter

from wmsd.events.webhooks.sending.sender import Sender


def is_busy(sender: Sender, hanging: int = 0) -> bool:
    """Return True if the sender does anything except waiting for `hanging` receivers."""
    tasks = Counter(getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())
    is_scanning = sender._scanner._is_any_wanted.is_set()
    return is_scanning or tasks["Sender._send"] > hanging or tasks["Sender._record"] > 0
