"""Every metric for Prometheus, declared once: its name, its meaning, and its source.

No label contains a token, a path or any other text that a client sent. Only the ten companies and the ten people
with the highest cost are named. This limits the number of series.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from wmsd.base import timestamps
from wmsd.dispatch.request_measures import CLASSES
from wmsd.server.figures.schema import PayerFigures, ServerFigures

Sample = tuple[tuple[str, ...], float]
"""A sample: first the values of the labels, then the value of the metric."""


class Metric(NamedTuple):
    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    samples: Callable[[ServerFigures], Iterable[Sample]]
    """The function that returns the samples, or no samples if the value is unknown. For a histogram,
    `prometheus.py` creates the samples from the buckets.
    """
    labels: tuple[str, ...] = ()


def _one(value: Callable[[ServerFigures], float | None]) -> Callable[[ServerFigures], Iterable[Sample]]:
    def samples(figures: ServerFigures) -> Iterator[Sample]:
        found = value(figures)
        if found is not None:
            yield (), float(found)

    return samples


def gauge(name: str, help_text: str, value: Callable[[ServerFigures], float | None]) -> Metric:
    return Metric(name, "gauge", help_text, _one(value))


def _requests(figures: ServerFigures) -> Iterator[Sample]:
    for surface, found in figures.requests.items():
        for status_class, number in zip(CLASSES, found.by_class, strict=True):
            yield (surface, status_class), float(number)


def of_payers(name: str, help_text: str, value: Callable[[PayerFigures], float]) -> Metric:
    """Return a metric with one sample for each company and each person in `CostFigures`. The label of a company is
    its code. The label of a person is the id of the user.

    E-mail addresses are left out, because a monitor does not need to know them.
    """

    def samples(figures: ServerFigures) -> Iterator[Sample]:
        for each in figures.costs.companies:
            yield ("company", each.name), value(each)
        for each in figures.costs.people:
            yield ("person", str(each.id)), value(each)

    return Metric(name, "counter", help_text, samples, ("payer", "name"))


METRICS: Final = (
    Metric(
        "wmsd_info",
        "gauge",
        "Always 1; the label is the version that runs.",
        lambda each: [((each.version,), 1.0)],
        ("version",),
    ),
    gauge(
        "process_start_time_seconds",
        "When the server started, in seconds since 1970.",
        lambda each: timestamps.from_text(each.started_at).timestamp(),
    ),
    Metric(
        "process_cpu_seconds_total",
        "counter",
        "Processor time that the server has used, in seconds.",
        _one(lambda each: each.process.cpu_seconds),
    ),
    gauge(
        "process_resident_memory_bytes",
        "Memory that the server uses, in bytes.",
        lambda each: each.process.memory_bytes,
    ),
    gauge(
        "process_open_fds", "Files and connections that the server has open.", lambda each: each.process.open_files
    ),
    gauge(
        "process_max_fds",
        "Files and connections that the system allows the server to open.",
        lambda each: each.process.most_open_files,
    ),
    Metric(
        "wmsd_requests_total",
        "counter",
        "Answered requests, by surface and status class. A batch counts as one request.",
        _requests,
        ("surface", "class"),
    ),
    Metric(
        "wmsd_request_duration_seconds",
        "histogram",
        "Time from the head of a request to its answer, in seconds. An event stream lasts as long as "
        "its page is open.",
        lambda _: (),
        ("surface",),
    ),
    gauge(
        "wmsd_event_loop_lag_seconds",
        "Delay of the event loop at the last measurement, in seconds. wmsd measures once a second. "
        "Every request has this delay.",
        lambda each: each.loop.lag_seconds,
    ),
    gauge(
        "wmsd_event_loop_lag_most_seconds",
        "Largest delay of the event loop in the last minute, in seconds.",
        lambda each: each.loop.most_lag_seconds,
    ),
    of_payers(
        "wmsd_cost_processor_seconds_total",
        "Time of the event loop and of threads that requests used, in seconds.",
        lambda each: each.seconds,
    ),
    of_payers(
        "wmsd_cost_requests_total",
        "Requests that were counted for this company or user.",
        lambda each: each.requests,
    ),
    of_payers(
        "wmsd_cost_refused_total",
        "Requests that were refused because of a limit (429, 503, 507).",
        lambda each: each.refused,
    ),
    of_payers(
        "wmsd_cost_sent_bytes_total",
        "Bytes of the bodies of accepted requests.",
        lambda each: each.sent_bytes,
    ),
    gauge("wmsd_companies", "Companies of the installation.", lambda each: each.companies.known),
    gauge("wmsd_companies_open", "Companies whose files are open.", lambda each: each.companies.open),
    gauge(
        "wmsd_companies_unavailable",
        "Companies whose files cannot be used: missing, damaged or replaced. wmsd status lists these companies.",
        lambda each: len(each.companies.unavailable),
    ),
    gauge(
        "wmsd_companies_read_only",
        "Companies whose files cannot be written now.",
        lambda each: len(each.companies.read_only),
    ),
    gauge(
        "wmsd_companies_frozen",
        "Companies that accept no changes, because they are being moved. wmsd status lists these companies.",
        lambda each: len(each.companies.frozen),
    ),
    gauge(
        "wmsd_webhook_deliveries_waiting",
        "Webhook deliveries of all companies that are still to be sent.",
        lambda each: each.deliveries.waiting,
    ),
    gauge(
        "wmsd_webhook_deliveries_without_credentials",
        "Webhook deliveries that wait until the credentials of their webhooks are set again.",
        lambda each: each.deliveries.without_credentials,
    ),
    gauge(
        "wmsd_webhook_delivery_oldest_seconds",
        "How long the oldest webhook delivery has waited, in seconds; absent when no delivery waits.",
        lambda each: each.deliveries.oldest_seconds,
    ),
    gauge(
        "wmsd_webhook_deliveries_given_up",
        "Webhook deliveries that failed at their last attempt, until they are sent again or deleted.",
        lambda each: each.deliveries.given_up,
    ),
    gauge(
        "wmsd_webhooks_switched_off",
        "Webhooks that the server has switched off, because their receivers failed for days.",
        lambda each: each.deliveries.switched_off,
    ),
    gauge(
        "wmsd_recovery_open",
        "Open tasks after a restore: lost things to create again, and access to confirm or end.",
        lambda each: each.recovery_open,
    ),
    gauge(
        "wmsd_log_bytes",
        "Total size of the write-ahead logs of open files, in bytes.",
        lambda each: each.logs.bytes,
    ),
    gauge(
        "wmsd_log_largest_bytes",
        "Size of the largest write-ahead log, in bytes.",
        lambda each: each.logs.largest_bytes,
    ),
    gauge(
        "wmsd_backup_ok",
        "1 when there is a reliable backup, 0 when not; absent when this server creates no backups.",
        lambda each: None if each.backup is None else each.backup.ok,
    ),
    gauge(
        "wmsd_backup_age_seconds",
        "Age of the last backup, in seconds; absent before the first backup, and when the last backup is missing.",
        lambda each: None if each.backup is None else each.backup.age_seconds,
    ),
    gauge(
        "wmsd_backup_proven_age_seconds",
        "Time since the last verification of a backup, in seconds; absent when the verification failed "
        "or the backup is missing.",
        lambda each: None if each.backup is None else each.backup.proven_age_seconds,
    ),
    gauge(
        "wmsd_replica_ok",
        "1 when the replica is complete, 0 when not; absent without a replica.",
        lambda each: None if each.replica is None else each.replica.ok,
    ),
    gauge(
        "wmsd_replica_files_behind",
        "Files whose latest changes are not in the replica.",
        lambda each: None if each.replica is None else each.replica.files_behind,
    ),
    gauge(
        "wmsd_replica_behind_seconds",
        "Longest time that a file has been behind in the replica, in seconds; absent when no file is behind.",
        lambda each: None if each.replica is None else each.replica.behind_seconds,
    ),
    gauge(
        "wmsd_disk_free_bytes",
        "Free space on the disk of the data folder, in bytes.",
        lambda each: None if each.disk is None else each.disk.free_bytes,
    ),
    gauge(
        "wmsd_disk_bytes",
        "Size of the disk of the data folder, in bytes.",
        lambda each: None if each.disk is None else each.disk.all_bytes,
    ),
    gauge(
        "wmsd_sessions",
        "Sessions of people who are signed in to the pages, one per browser.",
        lambda each: each.sessions,
    ),
    gauge("wmsd_event_streams", "Browsers that listen for changes.", lambda each: each.event_streams),
    gauge(
        "wmsd_jobs_failing", "Jobs whose last run failed. The page Jobs says why.", lambda each: each.jobs_failing
    ),
)
