"""The pauses after failed sign-ins. The memory for them is limited. `now` is monotonic time, in seconds."""

from wmsd.base.dataclass import dataclass

PATIENCE = 5
LONGEST_PAUSE = 60.0
FORGOTTEN_AFTER = 3600.0
MOST_REMEMBERED = 10_000

Key = tuple[str, str | None]
"""An account and a client address. With None instead of an address, failures from several addresses are counted
together.
"""


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    until: float
    """The time when the pause after the last failure ends."""


def pause_after(failures: int) -> float:
    """Return the pause in seconds: none before the fifth failure, then 1, 2, 4 … 60."""
    beyond = failures - PATIENCE
    return 0.0 if beyond < 0 else min(2.0 ** min(beyond, 10), LONGEST_PAUSE)


class Pauses:
    def __init__(self) -> None:
        self._failures: dict[Key, _Failures] = {}

    def __len__(self) -> int:
        return len(self._failures)

    def left(self, key: Key, now: float) -> float:
        """Return how many seconds of the pause remain, or 0 if there is no pause."""
        found = self._failures.get(key)
        return 0.0 if found is None else max(0.0, found.until - now)

    def note_failure(self, key: Key, now: float) -> None:
        found = self._failures.get(key)
        count = 1 if found is None or now - found.until > FORGOTTEN_AFTER else found.count + 1
        self._failures[key] = _Failures(count, now + pause_after(count))
        if len(self._failures) > MOST_REMEMBERED:
            self._forget_some()

    def forget(self, key: Key) -> None:
        self._failures.pop(key, None)

    def _forget_some(self) -> None:
        """Forget a tenth of the stored failures: those whose pauses end first. One call removes many failures,
        because it must sort all of them, which is slow.
        """
        by_end = sorted(self._failures, key=lambda key: self._failures[key].until)
        for key in by_end[: MOST_REMEMBERED // 10]:
            del self._failures[key]
