"""What fails again and again is told once, again after an hour with how often, and once more when it is over."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from wmsd.base.problems import Problem
from wmsd.base.shortages import is_shortage

SILENT_SECONDS: Final = 3600.0
FLAPPING_SECONDS: Final = 60.0
"""Between two lines about what fails, succeeds and fails again: what comes and goes must not fill the log."""
MOST_REMEMBERED: Final = 1000
"""Beyond it the longest known is forgotten, and so perhaps told again: tenants may choose what fails."""
FORESEEN: Final = (Problem, OSError)
"""What is told without a trace, as shortages are: the machine or somebody else is to blame, not this program."""


@dataclass(slots=True)
class _Failing:
    count: int = 0
    """Of failures without a success between them."""
    is_told: bool = False
    """Whether that is the last that the log was told of it."""
    failed_at: float = -math.inf
    """By the monotonic clock, as all times here."""
    told_at: dict[str, float] = field(default_factory=dict)
    """For each kind of error."""


class Complaints:
    """The lines of one log. `foreseen`: errors that are told without a trace, beside the usual ones.

    `settled_seconds`: without a failure, before a success is told. Where many do the same, some succeed while it
    fails.
    """

    def __init__(
        self,
        log: logging.Logger,
        foreseen: tuple[type[Exception], ...] = (),
        monotonic: Callable[[], float] = time.monotonic,
        level: int = logging.ERROR,
        settled_seconds: float = 0.0,
    ) -> None:
        self._log = log
        self._level = level
        self._foreseen = (*FORESEEN, *foreseen)
        self._monotonic = monotonic
        self._settled_seconds = settled_seconds
        self._failing: dict[str, _Failing] = {}

    def failed(self, what: str, error: BaseException, request_id: str | None = None) -> None:
        """`what` begins the line, such as "webhooks of company 7 cannot be loaded"; the error ends it."""
        failing = self._failing.setdefault(what, _Failing())
        failing.count += 1
        failing.failed_at = now = self._monotonic()
        kind = _kind(error)
        told_at = failing.told_at.get(kind)
        silent = SILENT_SECONDS if failing.is_told else FLAPPING_SECONDS
        if told_at is None or now - told_at >= silent:
            failing.told_at[kind], failing.is_told = now, True
            self._tell(what, error, failing.count, request_id)
        if len(self._failing) > MOST_REMEMBERED:
            del self._failing[next(iter(self._failing))]

    def over(self, what: str) -> None:
        """It has succeeded."""
        failing = self._failing.get(what)
        if failing is None or not failing.count or self._monotonic() - failing.failed_at < self._settled_seconds:
            return
        if failing.is_told:
            self._log.info("well again after %d failures: %s", failing.count, what)
        failing.count, failing.is_told = 0, False

    def _tell(self, what: str, error: BaseException, count: int, request_id: str | None) -> None:
        trace = None if isinstance(error, self._foreseen) or is_shortage(error) else error
        how_often = f"; {count} times by now" if count > 1 else ""
        extra = {"request_id": request_id}
        self._log.log(self._level, "%s: %s%s", what, _words(error), how_often, exc_info=trace, extra=extra)


def _kind(error: BaseException) -> str:
    """SQLite has a name for each error, and few types."""
    kind: str = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return kind if error.__cause__ is None else f"{kind} by {_kind(error.__cause__)}"


def _words(error: BaseException) -> str:
    words = str(error) or type(error).__name__
    cause = error.__cause__
    return words if cause is None or str(cause) in words else f"{words} ({_words(cause)})"
