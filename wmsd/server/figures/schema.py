"""The figures of a running server, in one reading. What cannot be read now is None."""

from wmsd.contract.fields import Model, Timestamp


class SurfaceFigures(Model):
    """Requests since the start. `buckets` go with the bounds of `request_measures.py`."""

    by_class: list[int]
    buckets: list[int]
    seconds: float


class MinuteFigures(Model):
    """The last minute, or what there was of it since the start."""

    seconds: float
    requests: int
    p50_seconds: float | None
    p99_seconds: float | None


class LoopFigures(Model):
    lag_seconds: float
    most_lag_seconds: float


class HeldCompany(Model):
    """A company that takes no changes, because it is being moved."""

    code: str
    since: Timestamp


class CompanyCounts(Model):
    """`unavailable` names those whose files cannot be used, and `read_only` those that cannot be written."""

    known: int
    open: int
    unavailable: list[str]
    read_only: list[str]
    frozen: list[HeldCompany]
    suspended: list[HeldCompany]


class DeliveryFigures(Model):
    """`waiting` are to be sent, `without_credentials` those of them that wait for credentials. `given_up` are
    those of receivers that are there still.
    """

    waiting: int
    without_credentials: int
    oldest_seconds: float | None
    given_up: int
    switched_off: int


class LogFigures(Model):
    """The write-ahead logs of open files."""

    bytes: int
    largest_bytes: int
    largest_of: str | None


class ProcessFigures(Model):
    memory_bytes: int
    cpu_seconds: float
    open_files: int | None
    most_open_files: int


class BackupFigures(Model):
    ok: bool
    sentence: str
    age_seconds: float | None
    proven_age_seconds: float | None


class ReplicaFigures(Model):
    """`behind_seconds`: of the file that is furthest behind; None when none is, or nobody knows."""

    ok: bool
    sentence: str
    files_behind: int
    behind_seconds: float | None


class DiskFigures(Model):
    free_bytes: int
    all_bytes: int


class PayerFigures(Model):
    """A company or a person, and what it has cost since the start. `lately`: the part of a processor that it has
    used in the last minute, from 0.
    """

    name: str
    """The company's code, or the person's e-mail address."""
    id: int
    lately: float
    seconds: float
    requests: int
    refused: int
    sent_bytes: int


class CostFigures(Model):
    """Those who have cost most in the last minute."""

    companies: list[PayerFigures]
    people: list[PayerFigures]


class ServerFigures(Model):
    version: str
    started_at: Timestamp
    up_seconds: float
    requests: dict[str, SurfaceFigures]
    last_minute: MinuteFigures
    loop: LoopFigures
    companies: CompanyCounts
    deliveries: DeliveryFigures
    logs: LogFigures
    process: ProcessFigures
    backup: BackupFigures | None
    replica: ReplicaFigures | None
    disk: DiskFigures | None
    sessions: int | None
    event_streams: int
    recovery_open: int | None
    """Open entries of the list of the day after."""
    jobs_failing: int
    costs: CostFigures
    clock_wrong: str | None = None
    """Why the clock must be wrong; None where nothing shows it."""
