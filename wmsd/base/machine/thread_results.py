"""Results of threads, for callers that wait for them on the event loop."""

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

Result = TypeVar("Result")
NO_MEMORY_SECONDS: Final = 0.05
"""How long a thread waits before it tries again after a lack of memory."""


def settle_future(future: "asyncio.Future[Result]", work: Callable[[], Result]) -> None:
    """Run `work` on this thread, and set its result or its error in `future`, unless the future was cancelled."""
    loop = future.get_loop()
    try:
        result = work()
    except BaseException as error:  # the waiting caller must always get an answer
        call_on_loop(loop, _fail, future, error)
    else:
        call_on_loop(loop, _succeed, future, result)


def call_on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> None:
    """Call a function on the event loop from another thread.

    If there is not enough memory for the call, repeat the attempt until the call succeeds. The waiting caller must
    always get an answer.
    """
    while True:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except MemoryError:
            time.sleep(NO_MEMORY_SECONDS)
        except RuntimeError:  # the loop is closed, and no caller waits any more
            return
        else:
            return


def _succeed(future: "asyncio.Future[Result]", result: Result) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[Result]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
