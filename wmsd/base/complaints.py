"""What fails again and again is told once, again after an hour with how often, and once more when it is over."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from wmsd.base.problems import Problem

SILENT_SECONDS: Final = 3600.0
FLAPPING_SECONDS: Final = 60.0
"""Between two lines about what fails, succeeds and fails again: what comes and goes must not fill the log."""
MOST_REMEMBERED: Final = 1000
"""Beyond it the longest known is forgotten, and so perhaps told again: tenants may choose what fails."""
FORESEEN: Final = (Problem, OSError, MemoryError)
"""What is told without a trace: the machine or somebody else is to blame, not this program."""


@dataclass(slots=True)
class _Failing:
    count: int = 0
    """Of failures without a success between them."""
    is_told: bool = False
    """Whether that is the last that the log was told of it."""
    told_at: dict[type[BaseException], float] = field(default_factory=dict)
    """By the monotonic clock, for each kind of error."""


class Complaints:
    """The lines of one log. `foreseen`: errors that are told without a trace, beside the usual ones."""

    def __init__(
        self,
        log: logging.Logger,
        foreseen: tuple[type[Exception], ...] = (),
        monotonic: Callable[[], float] = time.monotonic,
        level: int = logging.ERROR,
    ) -> None:
        self._log = log
        self._level = level
        self._foreseen = (*FORESEEN, *foreseen)
        self._monotonic = monotonic
        self._failing: dict[str, _Failing] = {}

    def failed(self, what: str, error: BaseException) -> None:
        """`what` begins the line, such as "webhooks of company 7 cannot be loaded"; the error ends it."""
        failing = self._failing.setdefault(what, _Failing())
        failing.count += 1
        now, told_at = self._monotonic(), failing.told_at.get(type(error))
        silent = SILENT_SECONDS if failing.is_told else FLAPPING_SECONDS
        if told_at is None or now - told_at >= silent:
            failing.told_at[type(error)], failing.is_told = now, True
            self._tell(what, error, failing.count)
        if len(self._failing) > MOST_REMEMBERED:
            del self._failing[next(iter(self._failing))]

    def over(self, what: str) -> None:
        """It has succeeded."""
        failing = self._failing.get(what)
        if failing is None:
            return
        if failing.is_told:
            self._log.info("well again after %d failures: %s", failing.count, what)
        failing.count, failing.is_told = 0, False

    def _tell(self, what: str, error: BaseException, count: int) -> None:
        trace = None if isinstance(error, self._foreseen) else error
        how_often = f"; {count} times by now" if count > 1 else ""
        self._log.log(self._level, "%s: %s%s", what, _words(error), how_often, exc_info=trace)


def _words(error: BaseException) -> str:
    words = str(error) or type(error).__name__
    cause = error.__cause__
    return words if cause is None else f"{words} ({_words(cause)})"
