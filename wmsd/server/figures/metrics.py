"""Every metric for Prometheus, declared once: its name, its meaning, and its source.

No label is a token, a path or any other text that a client sent. Only the ten companies and the ten people with
the highest cost are named. Therefore the number of series has a limit.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from wmsd.base import timestamps
from wmsd.dispatch.request_measures import CLASSES
from wmsd.server.figures.schema import PayerFigures, ServerFigures

Sample = tuple[tuple[str, ...], float]
"""A sample: the values of its labels, and its value."""


class Metric(NamedTuple):
    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    samples: Callable[[ServerFigures], Iterable[Sample]]
    """The function that returns the samples, or no samples if the value is unknown. `prometheus.py` creates the
    samples of a histogram from the buckets.
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
    """Return a metric with a sample for each company, by its code, and for each person, by the id.

    Ids are used, because a monitor does not need to know e-mail addresses.
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
        "Always 1; the label tells the version that runs.",
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
        "Seconds of the processor that the server has used.",
        _one(lambda each: each.process.cpu_seconds),
    ),
    gauge(
        "process_resident_memory_bytes",
        "Memory of the machine that the server occupies.",
        lambda each: each.process.memory_bytes,
    ),
    gauge(
        "process_open_fds", "Files and connections that the server has open.", lambda each: each.process.open_files
    ),
    gauge(
        "process_max_fds",
        "Files and connections that the system allows it.",
        lambda each: each.process.most_open_files,
    ),
    Metric(
        "wmsd_requests_total",
        "counter",
        "Requests that were answered, by what they were to and the class of their status. A batch counts as one.",
        _requests,
        ("surface", "class"),
    ),
    Metric(
        "wmsd_request_duration_seconds",
        "histogram",
        "Seconds from the head of a request to its answer. An event stream lasts as long as its page is open.",
        lambda _: (),
        ("surface",),
    ),
    gauge(
        "wmsd_event_loop_lag_seconds",
        "How late the event loop was at its last look, once a second. Every request waits for it.",
        lambda each: each.loop.lag_seconds,
    ),
    gauge(
        "wmsd_event_loop_lag_most_seconds",
        "How late it was at the most in the last minute.",
        lambda each: each.loop.most_lag_seconds,
    ),
    of_payers(
        "wmsd_cost_processor_seconds_total",
        "Seconds of the event loop and of threads that requests took.",
        lambda each: each.seconds,
    ),
    of_payers("wmsd_cost_requests_total", "Requests that were charged.", lambda each: each.requests),
    of_payers(
        "wmsd_cost_refused_total",
        "Requests that were refused as too many or too much (429, 503, 507).",
        lambda each: each.refused,
    ),
    of_payers(
        "wmsd_cost_sent_bytes_total",
        "Bytes of the bodies of requests that were taken.",
        lambda each: each.sent_bytes,
    ),
    gauge("wmsd_companies", "Companies of the installation.", lambda each: each.companies.known),
    gauge("wmsd_companies_open", "Companies whose files are open.", lambda each: each.companies.open),
    gauge(
        "wmsd_companies_unavailable",
        "Companies whose files cannot be used: missing, damaged or exchanged. wmsd status names them.",
        lambda each: len(each.companies.unavailable),
    ),
    gauge(
        "wmsd_companies_read_only",
        "Companies whose files cannot be written now.",
        lambda each: len(each.companies.read_only),
    ),
    gauge(
        "wmsd_companies_frozen",
        "Companies that take no changes, because they are being moved. wmsd status names them.",
        lambda each: len(each.companies.frozen),
    ),
    gauge(
        "wmsd_webhook_deliveries_waiting",
        "Deliveries of all companies that are to be sent.",
        lambda each: each.deliveries.waiting,
    ),
    gauge(
        "wmsd_webhook_deliveries_without_credentials",
        "Those of them that wait until the credentials of their webhooks are set again.",
        lambda each: each.deliveries.without_credentials,
    ),
    gauge(
        "wmsd_webhook_delivery_oldest_seconds",
        "How long the first of them has waited; absent when none waits.",
        lambda each: each.deliveries.oldest_seconds,
    ),
    gauge(
        "wmsd_webhook_deliveries_given_up",
        "Deliveries that were given up after their last attempt, until they are sent again or forgotten.",
        lambda each: each.deliveries.given_up,
    ),
    gauge(
        "wmsd_webhooks_switched_off",
        "Webhooks that the server has switched off, because their receivers failed for days.",
        lambda each: each.deliveries.switched_off,
    ),
    gauge(
        "wmsd_recovery_open",
        "What a restore has lost or brought back and nobody has settled yet.",
        lambda each: each.recovery_open,
    ),
    gauge("wmsd_log_bytes", "Write-ahead logs of the open files together.", lambda each: each.logs.bytes),
    gauge("wmsd_log_largest_bytes", "The largest of them.", lambda each: each.logs.largest_bytes),
    gauge(
        "wmsd_backup_ok",
        "1 when there is a backup to rely on, 0 when not; absent where this server makes none.",
        lambda each: None if each.backup is None else each.backup.ok,
    ),
    gauge(
        "wmsd_backup_age_seconds",
        "Age of the last backup; absent before the first, and when it is gone.",
        lambda each: None if each.backup is None else each.backup.age_seconds,
    ),
    gauge(
        "wmsd_backup_proven_age_seconds",
        "Age of the last proof that a backup can be restored; absent when it failed or that backup is gone.",
        lambda each: None if each.backup is None else each.backup.proven_age_seconds,
    ),
    gauge(
        "wmsd_replica_ok",
        "1 when the replica has everything, 0 when not; absent without a replica.",
        lambda each: None if each.replica is None else each.replica.ok,
    ),
    gauge(
        "wmsd_replica_files_behind",
        "Files that the replica does not have as they are.",
        lambda each: None if each.replica is None else each.replica.files_behind,
    ),
    gauge(
        "wmsd_replica_behind_seconds",
        "How far the file that is furthest behind is behind; absent when none is.",
        lambda each: None if each.replica is None else each.replica.behind_seconds,
    ),
    gauge(
        "wmsd_disk_free_bytes",
        "Free bytes of the disk of the data folder.",
        lambda each: None if each.disk is None else each.disk.free_bytes,
    ),
    gauge("wmsd_disk_bytes", "Its size.", lambda each: None if each.disk is None else each.disk.all_bytes),
    gauge("wmsd_sessions", "People who are signed in to the pages, by browser.", lambda each: each.sessions),
    gauge("wmsd_event_streams", "Browsers that listen for changes.", lambda each: each.event_streams),
    gauge(
        "wmsd_jobs_failing", "Jobs whose last run failed. The page Jobs says why.", lambda each: each.jobs_failing
    ),
)
