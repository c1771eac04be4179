"""The metrics in the format of Prometheus. It is imported at the first scrape, because its library takes 60 ms."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from wmsd.dispatch.request_measures import BOUNDS
from wmsd.server.figures.metrics import METRICS, Metric
from wmsd.server.figures.schema import ServerFigures

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""The content type of the format that every version of Prometheus can read."""


def exposition(figures: ServerFigures) -> bytes:
    """Return the text of an answer to a scrape."""
    registry = CollectorRegistry()
    registry.register(_Figures(figures))
    return generate_latest(registry)


class _Figures(Collector):
    def __init__(self, figures: ServerFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            if metric.kind == "histogram":
                yield _histogram(metric, self._figures)
                continue
            kind = GaugeMetricFamily if metric.kind == "gauge" else CounterMetricFamily
            family = kind(metric.name, metric.help, labels=metric.labels)
            for labels, value in metric.samples(self._figures):
                family.add_metric(labels, value)
            yield family


def _histogram(metric: Metric, figures: ServerFigures) -> Family:
    """Return a histogram: the durations of requests by surface (part of wmsd). Each bucket also counts the
    requests of all buckets with shorter durations, as Prometheus requires.
    """
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*map(str, BOUNDS), "+Inf"]
    for surface, found in figures.requests.items():
        buckets = list(zip(bounds, accumulate(found.buckets), strict=True))
        family.add_metric([surface], buckets=buckets, sum_value=found.seconds)
    return family
