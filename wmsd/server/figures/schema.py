"""The models of a running server's metrics. Values that cannot be read are None."""

from wmsd.contract.fields import Model, Timestamp


class SurfaceFigures(Model):
    """The requests to one part of wmsd (surface), such as `rest_v1` or `pages`, since the start of the server.

    `by_class` counts the requests by status class: 2xx, 3xx, 4xx and 5xx. `buckets` counts the requests by
    duration. The limits of the buckets are in `request_measures.py`. `seconds` is the sum of all durations.
    """

    by_class: list[int]
    buckets: list[int]
    seconds: float


class MinuteFigures(Model):
    """The requests of the last minute. If the server is running for less time, the requests since the start."""

    seconds: float
    requests: int
    p50_seconds: float | None
    p99_seconds: float | None


class LoopFigures(Model):
    lag_seconds: float
    most_lag_seconds: float


class HeldCompany(Model):
    """A frozen or suspended company, and the time since which it has been in this state."""

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
    """Counts of webhook deliveries, and of webhooks that wmsd has switched off.

    `waiting` counts the webhook deliveries that are still to be sent. `without_credentials` counts the waiting
    ones whose webhook lacks its credentials. `oldest_seconds` is the age of the oldest waiting one, or None if
    none is waiting.

    `given_up` counts the webhook deliveries whose last attempt has failed, so that wmsd tries no more. It counts
    only webhook deliveries to receivers that still exist. `switched_off` is the number of webhooks that wmsd has
    switched off because of failures.
    """

    waiting: int
    without_credentials: int
    oldest_seconds: float | None
    given_up: int
    switched_off: int


class LogFigures(Model):
    """The write-ahead logs of open files: the size of all logs together, and the size of the largest log.
    `largest_of` is the code of the company with the largest log, or "platform" for `platform.db`. It is None if
    all logs are empty.
    """

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
    """A company or a person, and the cost of the requests since the start of the server.

    `seconds` is the processor time. `lately` is the processor use in the last minute: 0 is no use, and 1 is a
    whole processor. `refused` counts the requests that were refused because of a limit. `sent_bytes` is the size
    of the request bodies with which clients have written data.
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
    """The number of open tasks after a restore, or None if `platform.db` cannot be read."""
    jobs_failing: int
    costs: CostFigures
    clock_wrong: str | None = None
    """The reason why the clock must be wrong, or None if nothing indicates a wrong clock."""
