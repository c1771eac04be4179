"""What is made when it is first asked for, and stays."""

import asyncio
import gc
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class LazyValue(Generic[Made]):
    """`make` runs on a thread. If it fails, it runs again for whoever asks next."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None
        self._making = asyncio.Lock()

    async def get(self) -> Made:
        """Raises what making it raises."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
                gc.freeze()  # it is no garbage: no collection looks through it while others wait
        return self._made
