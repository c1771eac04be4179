"""The moments that records show, as they ought to be."""

from datetime import UTC, datetime, timedelta

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class Moments:
    """A unit of work that changes something has a later millisecond than all before it; `now` is its text."""

    def __init__(self) -> None:
        self._last = self._moment = BEGINNING
        self.now = ""

    def begin_after(self, change: int) -> None:
        """`change` is the last place in the company's change sequence, in microseconds."""
        self._last = BEGINNING + timedelta(milliseconds=change // 1000)

    def begin(self, latest: datetime) -> None:
        """`latest` is the latest moment that the server's clock has shown."""
        self._moment = max(latest, self._last + MILLISECOND)
        self.now = f"{self._moment:%Y-%m-%dT%H:%M:%S}.{self._moment.microsecond // 1000:03d}Z"

    def end(self, has_changed: bool) -> None:
        if has_changed:
            self._last = self._moment
