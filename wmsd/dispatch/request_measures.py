"""Counts the requests of a running server by part of wmsd (surface), status class and duration. This costs three
additions per request.

The number of counters is fixed, whatever clients request, because wmsd has a fixed number of surfaces.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the duration buckets, in seconds. One more bucket counts the requests that took longer than
the last bound.
"""
CLASSES: Final = ("2xx", "3xx", "4xx", "5xx")
STREAMS: Final = "streams"
OTHER: Final = "other"
SURFACES: Final = (
    *("rest_v1", "rest_v2", "graphql", "kernel", "transports", "health"),
    *("pages", "guide", "files", STREAMS, OTHER),
)
"""The parts of wmsd that receive requests.

Event streams are a part of their own, because an event stream stays open as long as its page. Its duration is not
a response time.
"""
BEGINNINGS: Final = (
    ("/api/v2", "rest_v2"),
    ("/api/graphql", "graphql"),
    ("/api/kernel", "kernel"),
    ("/api/integrations", "transports"),
    ("/api/health", "health"),
    ("/api", "rest_v1"),
    ("/openapi.json", "rest_v1"),
    ("/docs", "guide"),
    ("/pages", "files"),
    ("/live", STREAMS),
    ("/{anything", OTHER),
    ("/metrics", OTHER),
)
"""Pairs of the beginning of an address template and the surface of the address. The first pair that fits is used.
An address whose template fits no pair belongs to the surface `pages`.
"""


class Counted:
    """The requests of one surface since the start."""

    __slots__ = ("buckets", "by_class", "seconds")

    def __init__(self) -> None:
        self.by_class = [0] * len(CLASSES)
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def note(self, status: int, seconds: float) -> None:
        self.by_class[status // 100 - 2] += 1
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


class RequestMeasures:
    def __init__(self) -> None:
        self.surfaces = {name: Counted() for name in SURFACES}

    def of(self, template: str) -> Counted:
        """Return the counter for requests to an address with this template."""
        return self.surfaces[surface_of(template)]

    def answered(self) -> list[int]:
        """Return the number of requests in each duration bucket. The numbers include all surfaces except event
        streams.
        """
        timed = (each.buckets for name, each in self.surfaces.items() if name != STREAMS)
        return [sum(several) for several in zip(*timed, strict=True)]


@cache  # the templates are those of the program
def surface_of(template: str) -> str:
    return next((surface for beginning, surface in BEGINNINGS if _begins(template, beginning)), "pages")


def _begins(template: str, beginning: str) -> bool:
    return template == beginning or template.startswith((f"{beginning}/", f"{beginning}:"))


def difference(later: Iterable[int], earlier: Iterable[int]) -> list[int]:
    return [after - before for after, before in zip(later, earlier, strict=True)]


def quantile(buckets: Sequence[int], share: float) -> float | None:
    """Return the number of seconds within which this share of the requests was answered. `share` is a number from
    0 to 1. Return None if there are no requests.

    Requests are assumed to be spread evenly in their bucket. If the result is beyond the last bound, return the
    last bound.
    """
    wanted, below = sum(buckets) * share, 0
    if not wanted:
        return None
    for place, bound in enumerate(BOUNDS):
        number = buckets[place]
        if number and below + number >= wanted:
            begin = BOUNDS[place - 1] if place else 0.0
            return begin + (bound - begin) * (wanted - below) / number
        below += number
    return BOUNDS[-1]
