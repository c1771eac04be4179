"""The models of a running server's metrics. Values that cannot be read are None."""

from wmsd.contract.fields import Model, Timestamp


class SurfaceFigures(Model):
    """Requests since the start. `buckets` belong to the bounds in `request_measures.py`."""

    by_class: list[int]
    buckets: list[int]
    seconds: float


class MinuteFigures(Model):
    """The requests of the last minute, or since the start if the server started later."""

    seconds: float
    requests: int
    p50_seconds: float | None
    p99_seconds: float | None


class LoopFigures(Model):
    lag_seconds: float
    most_lag_seconds: float


class HeldCompany(Model):
    """A company that accepts no changes, with the time since when."""

    code: str
    since: Timestamp


class CompanyCounts(Model):
    """Numbers of companies. `unavailable` names companies whose files cannot be used.

    `read_only` names companies whose files cannot be written.
    """

    known: int
    open: int
    unavailable: list[str]
    read_only: list[str]
    frozen: list[HeldCompany]
    suspended: list[HeldCompany]


class DeliveryFigures(Model):
    """Webhook deliveries. `waiting` deliveries are to be sent; `without_credentials` of them wait for credentials.

    `given_up` counts only deliveries to receivers that still exist.
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
    """The state of the replica. `behind_seconds` is the largest delay of a file, or None if no delay is known."""

    ok: bool
    sentence: str
    files_behind: int
    behind_seconds: float | None


class DiskFigures(Model):
    free_bytes: int
    all_bytes: int


class PayerFigures(Model):
    """A company or a person, and the cost since the start.

    `lately` is the share of a processor that was used in the last minute: 0 is no use, 1 a whole processor.
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
    """The companies and people with the highest cost in the last minute."""

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
    """The number of open entries in the recovery list, or None if the platform file cannot be read."""
    jobs_failing: int
    costs: CostFigures
    clock_wrong: str | None = None
    """The reason why the clock must be wrong, or None if nothing indicates a wrong clock."""
