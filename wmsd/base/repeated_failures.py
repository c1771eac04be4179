"""Logs failures of actions that fail again and again, without flooding the log. wmsd logs the first failure, then
one line per hour with the number of failures, and the success at the end.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.plurals import count_of
from wmsd.base.problems import Problem

SILENT_SECONDS: Final = 3600.0
FLAPPING_SECONDS: Final = 60.0
"""The least time in seconds between two log lines about an action that fails and succeeds in turn. Without this
limit, each failure after a success is logged.
"""
MOST_REMEMBERED: Final = 1000
"""How many failing actions are remembered. Beyond this number, wmsd forgets the oldest action: the next failure of
this action is logged like a first one. A limit is needed because a tenant can cause any number of actions to fail.
"""
FORESEEN: Final = (Problem, OSError)
"""The errors that are logged without a traceback, because the machine or a caller causes them, not this program.
If the machine lacks memory or another resource, that error is logged without a traceback too.
"""


@dataclass(slots=True)
class _Failing:
    count: int = 0
    """The number of failures since the last success."""
    is_told: bool = False
    """True if the last logged line about the action was a failure."""
    failed_at: float = -math.inf
    """The time of the last failure. All times here are seconds of the monotonic clock."""
    told_at: dict[str, float] = field(default_factory=dict)
    """The time at which a failure was last logged, by kind of error."""


class RepeatedFailures:
    """Writes repeated failures to one log. Errors of the types `foreseen` are logged without a traceback.

    A success is logged only after `settled_seconds` without a failure. Use this if many tasks do the same work:
    one task may succeed while the next one still fails.
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
        """Record a failure. Log it, unless a failure of the same kind was logged in the last hour. After a logged
        success, the limit is one minute instead of one hour.

        The logged line begins with `what`, such as "webhooks of company 7 cannot be loaded". It ends with the
        error.
        """
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
        """Record a success, and log it if failures were logged before."""
        failing = self._failing.get(what)
        if failing is None or not failing.count or self._monotonic() - failing.failed_at < self._settled_seconds:
            return
        if failing.is_told:
            self._log.info("resolved after %s: %s", count_of(failing.count, "failure"), what)
        failing.count, failing.is_told = 0, False

    @contextmanager
    def trying(self, what: str, *errors: type[Exception]) -> Iterator[None]:
        """Run the body of the `with` statement, and record its success, or an error of the types `errors`. Such an
        error is logged and not raised. Any other error is raised and not recorded.
        """
        try:
            yield
        except errors as error:
            self.failed(what, error)
        else:
            self.over(what)

    def _tell(self, what: str, error: BaseException, count: int, request_id: str | None) -> None:
        trace = None if isinstance(error, self._foreseen) or is_shortage(error) else error
        how_often = f"; {count} failures so far" if count > 1 else ""
        extra = {"request_id": request_id}
        self._log.log(self._level, "%s: %s%s", what, _words(error), how_often, exc_info=trace, extra=extra)


def _kind(error: BaseException) -> str:
    """Return the kind of an error and of its causes, such as "StorageError by SQLITE_FULL".

    For an error of SQLite, use SQLite's own name of the error, because Python has few types for these errors. For
    any other error, use the name of its type.
    """
    kind: str = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return kind if error.__cause__ is None else f"{kind} by {_kind(error.__cause__)}"


def _words(error: BaseException) -> str:
    words = str(error) or type(error).__name__
    cause = error.__cause__
    return words if cause is None or str(cause) in words else f"{words} ({_words(cause)})"
