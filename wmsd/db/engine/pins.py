"""The states of a file that are held (see `held_states.py`)."""

import asyncio
from functools import partial
from pathlib import Path

from wmsd.db.engine.held_states import Pinned, pin
from wmsd.db.engine.worker_threads import WorkerThreads


class Pins:
    """Threads of `workers` open and close them: both may wait for the disk."""

    def __init__(self, workers: WorkerThreads) -> None:
        self._workers = workers
        self._held: set[Pinned] = set()
        self._none_held = asyncio.Event()
        self._none_held.set()

    @property
    def are_none(self) -> bool:
        return not self._held

    async def begin(self, path: Path, alone: bool) -> Pinned:
        """Raises what `pin` raises."""
        held = await self._workers.open(partial(pin, path, alone=alone))
        self._held.add(held)
        self._none_held.clear()
        return held

    async def release(self, held: Pinned) -> None:
        """Closing is shielded: a state that stays held would keep the log growing."""
        try:
            await asyncio.shield(self._workers.run(held.close))
        finally:
            self._held.discard(held)
            if not self._held:
                self._none_held.set()

    async def end(self, patience: float) -> None:
        """Waits so many seconds until no state is held, and then releases those that still are."""
        if self._held and patience:
            await asyncio.wait([asyncio.ensure_future(self._none_held.wait())], timeout=patience)
        for held in list(self._held):
            await self._workers.run(held.close)
