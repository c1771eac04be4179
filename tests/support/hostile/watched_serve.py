"""`wmsd` whose event loop reports which operation blocked it, and for how long.

Run as a script. The arguments are the file for the reports, and then the words of the command.

Only processor time counts, because on a busy machine every callback waits for its turn. The loop is uvloop, as in
the service. A garbage collection blocks the loop, also if it runs on another thread.
"""

import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

import uvloop

from wmsd.dispatch.call import Call
from wmsd.dispatch.dispatcher import Dispatcher, PendingCall
from wmsd.interfaces.cli.main import main
from wmsd.interfaces.http.connections import Connection

HELD_SECONDS: Final = 0.05
COLLECTED_SECONDS: Final = 0.1
"""The longest garbage collection that is not reported, in seconds. A collection examines all objects, and does not
count as work of an operation.
"""
LONGEST_SECONDS: Final = 30.0
OPERATION: Final[ContextVar[str]] = ContextVar("operation", default="")


class Watch:
    """The notes of what blocks the loop too long, as lines of JSON."""

    def __init__(self, file: Path) -> None:
        self._noted = file.open("a", encoding="utf-8")
        self._collecting = 0.0
        """The time at which the running garbage collection started."""
        self._collected = 0.0
        """The seconds that collections during the current callback took."""
        gc.callbacks.append(self._collection)

    def note(self, kind: str, seconds: float, operation: str) -> None:
        told = {"kind": kind, "seconds": round(seconds, 4), "operation": operation}
        print(json.dumps(told), file=self._noted, flush=True)

    def timed(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            began, self._collected = time.thread_time(), 0.0
            try:
                return callback(*arguments)
            finally:
                seconds = time.thread_time() - began - self._collected
                if seconds > HELD_SECONDS:
                    self.note("held", seconds, OPERATION.get() or repr(callback)[:200])

        return run

    def _collection(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = time.thread_time()
            return
        seconds = time.thread_time() - self._collecting
        if threading.current_thread() is threading.main_thread():
            self._collected += seconds
        if seconds > COLLECTED_SECONDS:
            self.note("held", seconds, f"a collection of {info['collected']} objects")


class WatchedLoop(uvloop.Loop):
    """An event loop that measures the time of its callbacks, and so of each step of a task."""


CALLBACKS: Final = {"call_soon": 0, "call_soon_threadsafe": 0, "call_later": 1, "call_at": 1, "add_reader": 1}
"""The methods that take a callback, with the index of the callback among the arguments."""


def with_timed(method: Callable[..., Any], place: int, watch: Watch) -> Callable[..., Any]:
    def call(loop: WatchedLoop, *arguments: Any, **named: Any) -> Any:
        before, callback, after = arguments[:place], arguments[place], arguments[place + 1 :]
        return method(loop, *before, watch.timed(callback), *after, **named)

    return call


def watched(watch: Watch) -> None:
    """Replace in this process the functions that the loop calls, and the functions that name operations."""
    begin, dispatch, data_received = Dispatcher.begin, Dispatcher.dispatch, Connection.data_received

    async def noted_begin(dispatcher: Dispatcher, call: Call) -> PendingCall:
        OPERATION.set(call.operation.name)
        return await begin(dispatcher, call)

    async def timed_dispatch(dispatcher: Dispatcher, call: Call) -> Any:
        began = time.monotonic()
        try:
            return await dispatch(dispatcher, call)
        finally:
            seconds = time.monotonic() - began
            if seconds > LONGEST_SECONDS:
                watch.note("long", seconds, call.operation.name)

    def timed_data(connection: Connection, data: bytes) -> None:
        watch.timed(data_received)(connection, data)

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=WatchedLoop) as runner:
            return runner.run(work)

    for name, place in CALLBACKS.items():
        setattr(WatchedLoop, name, with_timed(getattr(uvloop.Loop, name), place, watch))
    for owner, name, replacement in (
        (Dispatcher, "begin", noted_begin),
        (Dispatcher, "dispatch", timed_dispatch),
        (Connection, "data_received", timed_data),
        (uvloop, "run", run),
    ):
        setattr(owner, name, replacement)


if __name__ == "__main__":
    watched(Watch(Path(sys.argv.pop(1))))
    main()
