"""The descriptions of all jobs, and the results of their last runs."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Final, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass

LONGEST_ERROR: Final = 500
Job = Callable[[], Awaitable[object]]


class Words(NamedTuple):
    title: str
    says: str


WORDS: Final[Mapping[str, Words]] = {
    "_notice_changes": Words(
        "Detect changes", "Detects changes made on the command line, and files that were moved."
    ),
    "tick": Words("Send webhooks", "Sends the webhook deliveries that are due."),
    "watch_the_clock": Words("Check the clock", "Detects when the server's clock is changed."),
    "keep": Words(
        "Save the time",
        "Saves the current time. At the next start, wmsd compares the saved time with the server's clock.",
    ),
    "write_token_uses": Words("Last use of tokens", "Saves when and from where each token was last used."),
    "write_session_uses": Words("Last use of sessions", "Saves when each user last used the pages."),
    "write_failed_sign_ins": Words(
        "Failed sign-ins", "Writes failed sign-ins to the audit, at most once an hour for each user."
    ),
    "write_request_counts": Words("Request counts", "Saves how many requests each company has sent."),
    "write": Words(
        "Last change of each file",
        "Saves the number of the last change of each file. With this number, wmsd notices if an older copy "
        "replaces the file.",
    ),
    "keep_today": Words("Numbers on the page Today", "Updates the numbers on the page Today after changes."),
    "index_changes": Words("Search index", "Adds changes to the search index of each company."),
    "close_unused": Words("Close files", "Closes the files of companies that are not in use."),
    "try_failed_writes": Words("Retry failed writes", "Tries again to write to the files whose disk failed."),
    "write_logs_back": Words("Save write-ahead logs", "Writes the write-ahead logs back into the database files."),
    "look_at_credentials": Words(
        "Credentials after a restore", "Checks after a restore which webhook credentials must be set again."
    ),
    "make_reserve": Words("Disk reserve", "Recreates the emergency space reserve after the disk was full."),
    "watch_the_disk": Words(
        "Check the disk space", "Logs when the disk is filling up, and when it has enough free space again."
    ),
    "watch_for_alerts": Words(
        "Alerts",
        "Finds problems that need attention, and sends an alert when a problem begins and when it is over.",
    ),
    "sweep_tokens": Words("Remove expired tokens", "Deletes expired tokens and ended sessions."),
    "tell_of_ending_tokens": Words(
        "Warn about expiring tokens", "Logs a warning two weeks before a token expires, and again one day before."
    ),
    "tidy_files": Words(
        "Tidy files",
        "Deletes old events, idempotency keys and webhook deliveries, and updates the database statistics.",
    ),
    "forget_old_requests": Words("Delete old requests", "Deletes stored requests that are too old."),
    "forget_old": Words("Delete old uploads", "Deletes uploaded import files that are older than a day."),
    "look": Words("Backups", "Creates backups, verifies them and deletes old ones, on schedule."),
}
"""The title and the description of each job, by the job's name."""


@dataclass(slots=True)
class JobRuns:
    """A job, and its runs since the start of the server. `every` is the number of seconds between two runs.
    `seconds` is the duration of the last run.
    """

    title: str
    says: str
    every: float
    due: float
    """The time of the next run, on the monotonic clock."""
    runs: int = 0
    failures: int = 0
    began_at: datetime | None = None
    seconds: float | None = None
    error: str | None = None
    """The error of the last run, or None if the last run did not fail."""
    failed_at: datetime | None = None
    is_running: bool = False


class JobLog:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.jobs: dict[str, JobRuns] = {}

    def declare(self, name: str, title: str, says: str, every: float) -> None:
        self.jobs[name] = JobRuns(title, says, every, self._clock.monotonic() + every)

    @contextmanager
    def run(self, name: str) -> Iterator[None]:
        """Record a run of the job `name` while the block runs. If the block raises an exception, record it and
        raise it again. The run of an undeclared job is not recorded.
        """
        job = self.jobs.get(name) or JobRuns("", "", every=0.0, due=0.0)
        began, job.began_at, job.is_running = self._clock.monotonic(), self._clock.now(), True
        job.due = began + job.every
        try:
            yield
            job.error = None
        except Exception as error:
            job.failures += 1
            job.failed_at = self._clock.now()
            job.error = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
            raise
        finally:
            job.runs += 1
            job.is_running = False
            job.seconds = self._clock.monotonic() - began

    def seconds_until(self, job: JobRuns) -> float:
        """Return the seconds until the next run, or 0 if the job is due."""
        return max(0.0, job.due - self._clock.monotonic())
