"""Faults that set the machine's clock and set it right again."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final

from tests.support.faults.fault import NOBODY, Fault, Running

STEPS: Final = {
    "a second": timedelta(seconds=1),
    "59 seconds": timedelta(seconds=59),
    "an hour": timedelta(hours=1),
    "a day": timedelta(days=1),
    "30 days": timedelta(days=30),
    "180 days": timedelta(days=180),
    "a year": timedelta(days=365),
    "ten years": timedelta(days=3650),
}
UNTOLD: Final = timedelta(minutes=1)
"""The largest step of the clock that wmsd need not report in the log. wmsd may report a step of exactly this size,
depending on the microseconds between two readings.
"""


@contextmanager
def moved(step: timedelta, running: Running) -> Iterator[None]:
    running.clock.stand(step)
    try:
        yield
    finally:
        running.clock.stand(timedelta())


def _clock(words: str, step: timedelta, way: str, sign: int) -> Fault:
    return Fault(
        f"the clock is set {way} by {words}",
        partial(moved, sign * step),
        NOBODY,
        told=f"the clock was set {way}" if step > UNTOLD else "",
        is_by_moved_clock=True,
    )


CLOCKS: Final = tuple(
    _clock(words, step, way, sign) for words, step in STEPS.items() for way, sign in (("forward", 1), ("back", -1))
)
