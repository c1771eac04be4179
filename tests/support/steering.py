"""A clock and ids that a test steers."""

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
        """Only the wall clock goes back: the monotonic one never does."""
        self.wall -= timedelta(seconds=seconds)

    def set_forward(self, seconds: float) -> None:
        """Only the wall clock: nothing has passed."""
        self.wall += timedelta(seconds=seconds)


class CountedIds:
    def __init__(self, count: int = 0) -> None:
        self.count = count

    def unique(self) -> str:
        self.count += 1
        return f"{self.count:08x}{0:024x}"

    def secret(self) -> str:
        return f"secret-{self.unique()}"
