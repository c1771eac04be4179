"""A clock and ids that a test controls."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta


class SteeredClock:
    def __init__(self) -> None:
        self.wall = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.seconds

    def passed(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.seconds += seconds

    def set_back(self, seconds: float) -> None:
        """Set the wall clock back. The monotonic clock never goes back."""
        self.wall -= timedelta(seconds=seconds)

    def set_forward(self, seconds: float) -> None:
        """Set the wall clock forward. No monotonic time passes."""
        self.wall += timedelta(seconds=seconds)


class CountedIds:
    def __init__(self, count: int = 0) -> None:
        self.count = count

    def unique(self) -> str:
        self.count += 1
        return f"{self.count:08x}{0:024x}"

    def secret(self) -> str:
        return f"secret-{self.unique()}"


class SteeredSleep:
    """Sleep on the steered clock. `advance` wakes, in order, each sleeper whose time has come."""

    def __init__(self, clock: SteeredClock) -> None:
        self._clock = clock
        self._asleep: list[tuple[float, int, asyncio.Event]] = []
        self._count = 0

    async def __call__(self, seconds: float) -> None:
        self._count += 1
        each = self._clock.monotonic() + seconds, self._count, asyncio.Event()
        heapq.heappush(self._asleep, each)
        try:
            await each[2].wait()
        finally:
            if each in self._asleep:
                self._asleep.remove(each)
                heapq.heapify(self._asleep)

    @property
    def asleep(self) -> int:
        return len(self._asleep)

    async def advance(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        await _settle()
        while self._asleep and self._asleep[0][0] <= until:
            moment, _, event = heapq.heappop(self._asleep)
            self._clock.advance(max(0.0, moment - self._clock.monotonic()))
            event.set()
            await _settle()
        self._clock.advance(max(0.0, until - self._clock.monotonic()))


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
