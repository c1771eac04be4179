"""A value that is created when it is first requested, and is kept from then on."""

import asyncio
import gc
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class LazyValue(Generic[Made]):
    """A value that the function `make` creates on a thread. If `make` fails, the next `get` calls it again."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None
        self._making = asyncio.Lock()

    async def get(self) -> Made:
        """Return the value, and create it first if necessary. Raise the error of `make` if that fails."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
                gc.freeze()  # the value is no garbage: no collection needs to scan it while requests wait
        return self._made
