"""What each job does, and how its last run went."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass

LONGEST_ERROR: Final = 500


@dataclass(slots=True)
class JobRuns:
    """A job, and its runs since the start. `seconds`: how long the last one took."""

    title: str
    says: str
    every: float
    due: float
    """When it runs next, on the monotonic clock."""
    runs: int = 0
    failures: int = 0
    began_at: datetime | None = None
    seconds: float | None = None
    error: str | None = None
    """Why the last run failed."""
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
        """A run of the job. What it raises is noted, and raised. One that was not declared is noted nowhere."""
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
        """Until its next run; 0 when it is due."""
        return max(0.0, job.due - self._clock.monotonic())
