"""The time for which a request blocks the event loop. The time in which the request waits is not included."""

from collections.abc import Awaitable, Generator
from time import perf_counter
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class LoopTime(Generic[Result]):
    """A wrapper that awaits work and measures its seconds. The time in which the work waits is not included."""

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
