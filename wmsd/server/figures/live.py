"""The metrics of the running server, cached for a second.

The code that reads them is imported at the first request, because the server can start without it.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Final

from wmsd.installation.open_installation import Installation
from wmsd.server.figures.loop_lag import LoopLag
from wmsd.server.jobs import Jobs

if TYPE_CHECKING:
    from wmsd.server.figures.schema import ServerFigures

HOLDS_SECONDS: Final = 1.0
"""How many seconds the metrics are cached. Many requests therefore cause only one reading in this time."""


class LiveFigures:
    def __init__(self, installation: Installation, jobs: Jobs) -> None:
        self.installation, self.jobs, self.clock = installation, jobs, installation.clock
        self.pulse = LoopLag(installation.measures)
        self.started_at, self.began = installation.clock.now(), installation.clock.monotonic()
        self._reading = asyncio.Lock()
        self._last: ServerFigures | None = None
        self._read_at = 0.0

    async def read(self) -> "ServerFigures":
        """Return the metrics, at most a second old."""
        from wmsd.server.figures.read import read_figures

        async with self._reading:
            now = time.monotonic()
            if self._last is None or now - self._read_at >= HOLDS_SECONDS:
                self._last = await read_figures(
                    self.installation, self.jobs, self.pulse, self.started_at, self.began
                )
                self._read_at = now
            return self._last
