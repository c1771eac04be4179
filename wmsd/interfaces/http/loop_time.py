"""Measures for how long a request blocks the event loop. The time in which the request waits does not count."""

from collections.abc import Awaitable, Generator
from time import perf_counter
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class LoopTime(Generic[Result]):
    """Awaits work, and measures the seconds in which the work runs. The time in which the work waits does not
    count.
    """

    __slots__ = ("_work", "seconds")

    def __init__(self, work: Awaitable[Result]) -> None:
        self._work = work
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, Any, Result]:
        steps = self._work.__await__()
        thrown: BaseException | None = None
        while True:
            began = perf_counter()
            try:
                waited = next(steps) if thrown is None else steps.throw(thrown)
            except StopIteration as end:
                result: Result = end.value
                return result
            finally:
                self.seconds += perf_counter() - began
                thrown = None  # always: the error refers to this frame; only a garbage collection would free both
            try:
                yield waited
            except BaseException as error:
                thrown = error
