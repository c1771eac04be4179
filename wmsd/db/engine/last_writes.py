"""The success or failure of the last writes to a file."""

from datetime import datetime

from wmsd.db.engine.failures import STORAGE_FAILURES, problem_of_failure
from wmsd.db.engine.work import Work


class Moments:
    """The times of the last failed and the last successful write. None if there was no such write."""

    def __init__(self) -> None:
        self.failed_at: datetime | None = None
        self.succeeded_at: datetime | None = None


class Writes:
    """The success or failure of the last writes to a file.

    `failure` is the error of the last group of writes. It is None if the group succeeded, or if its error was not
    caused by the file or the disk. Several files may share `moments`.
    """

    def __init__(self, moments: Moments | None = None) -> None:
        self.failure: Exception | None = None
        self.moments = moments or Moments()

    def note(self, group: list[Work], now: datetime) -> None:
        failures = [work.error for work in group if isinstance(work.error, STORAGE_FAILURES)]
        failures = [error for error in failures if problem_of_failure(error) is not None]
        if failures:
            self.failure, self.moments.failed_at = failures[0], now
        elif any(work.error is None for work in group):
            self.failure, self.moments.succeeded_at = None, now
