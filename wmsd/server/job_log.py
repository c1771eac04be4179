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
        "Notice changes", "Sees what the command line has changed, and which files have moved."
    ),
    "tick": Words("Send webhooks", "Looks which deliveries of webhooks are due, and sends them."),
    "watch_the_clock": Words("Watch the clock", "Sees when the clock of this machine was set."),
    "keep": Words("Keep the time", "Writes down what time it is, so that the next start can compare."),
    "write_token_uses": Words("Uses of tokens", "Writes down when tokens were used last, and from where."),
    "write_session_uses": Words("Uses of sessions", "Writes down when people were last at the pages."),
    "write_failed_sign_ins": Words(
        "Failed sign-ins", "Writes into the audit for which users signing in has failed, once an hour for each."
    ),
    "write_request_counts": Words("Counts of requests", "Writes down how many requests each company has made."),
    "write": Words("Marks of files", "Writes down how far each file has come, so that an older copy is noticed."),
    "keep_today": Words("Figures of Today", "Reads the figures of the page Today where something has changed."),
    "index_changes": Words("Search index", "Puts what has changed into the search index of each company."),
    "close_unused": Words("Close files", "Closes the files of companies that nobody uses."),
    "try_failed_writes": Words("Try failed writes", "Tries whether a disk that failed works again."),
    "write_logs_back": Words("Write logs back", "Writes the logs of the databases back into their files."),
    "look_at_credentials": Words(
        "Credentials after a restore", "Tries after a restore which credentials of webhooks must be set again."
    ),
    "make_reserve": Words("Reserve of the disk", "Makes the file again that is given up when the disk is full."),
    "watch_the_disk": Words("Watch the disk", "Tells the log once when the disk fills up, and when it has room."),
    "watch_for_alerts": Words(
        "Alerts", "Looks what needs a person, and tells it once when it begins and once when it is over."
    ),
    "sweep_tokens": Words(
        "Remove expired tokens", "Deletes tokens that have expired, and sessions that are over."
    ),
    "tell_of_ending_tokens": Words(
        "Warn of tokens", "Has the log tell of each token two weeks and a day before its end."
    ),
    "tidy_files": Words("Tidy files", "Deletes old events, keys and deliveries, and keeps statistics fresh."),
    "forget_old_requests": Words(
        "Forget old requests", "Deletes the kept requests of companies when they are too old."
    ),
    "forget_old": Words("Forget old uploads", "Deletes the files that were uploaded for imports, after a day."),
    "look": Words("Backups", "Makes a backup, proves it and deletes old ones, when that is due."),
}
"""The title and the description of each job, by the job's name."""


@dataclass(slots=True)
class JobRuns:
    """A job, and its runs since the start. `seconds` is the duration of the last run."""

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
        """Record a run of the job. Exceptions are recorded and raised again. Undeclared jobs are not recorded."""
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
