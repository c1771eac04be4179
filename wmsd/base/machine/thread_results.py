"""The results of threads, for whoever waits for them on the event loop."""

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

Result = TypeVar("Result")
NO_MEMORY_SECONDS: Final = 0.05
"""How long a thread waits for memory."""


def settle_future(future: "asyncio.Future[Result]", work: Callable[[], Result]) -> None:
    """From a thread. Does the work, and gives its result or its error to the future, for whoever still waits."""
    loop = future.get_loop()
    try:
        result = work()
    except BaseException as error:  # whoever waits must always hear
        call_on_loop(loop, _fail, future, error)
    else:
        call_on_loop(loop, _succeed, future, result)


def call_on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> None:
    """From a thread. When there is no memory for it, as soon as there is: whoever waits must always hear."""
    while True:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except MemoryError:
            time.sleep(NO_MEMORY_SECONDS)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            return
        else:
            return


def _succeed(future: "asyncio.Future[Result]", result: Result) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[Result]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
