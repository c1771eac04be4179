"""The result and the progress of a part of scripts/soak."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

EVERY_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers of a part by name, and a sentence for each violation of a law."""

    figures: Mapping[str, float]
    broken: list[str]

    def __str__(self) -> str:
        verdict = f"BROKEN, {len(self.broken)} times" if self.broken else "every law holds"
        return ", ".join([*(f"{name} {_shown(value)}" for name, value in self.figures.items()), verdict])


def _shown(value: float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def progress(text: str) -> None:
    print(f"soak: {text}", file=sys.stderr, flush=True)


@asynccontextmanager
async def telling(text: Callable[[], str]) -> AsyncIterator[None]:
    """Print the progress every EVERY_SECONDS until the context ends."""

    async def tell() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            progress(text())

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()
