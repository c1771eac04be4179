"""The times that records should have."""

from datetime import UTC, datetime, timedelta

from wmsd.base.clock import OrderedClock

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class Moments:
    """The expected times.

    Each unit of work that changes something has a time that is at least a millisecond after the previous one.
    `now` is this time as text, and `by_clock` is the time of the server's clock as text.
    """

    def __init__(self) -> None:
        self._last = self._moment = BEGINNING
        self.now = self.by_clock = ""

    def begin_after(self, change: int) -> None:
        """Start after `change`, the last position in the company's change sequence, in microseconds."""
        self._last = BEGINNING + timedelta(milliseconds=change // 1000)

    def begin(self, clock: OrderedClock) -> None:
        """Start a unit of work. The position of its change follows the latest time that the server's clock had."""
        self._moment = max(clock.ordering(), self._last + MILLISECOND)
        self.now, self.by_clock = _text(self._moment), _text(clock.now())

    def end(self, has_changed: bool) -> None:
        if has_changed:
            self._last = self._moment


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
