"""`wmsd` whose event loop says which operation held it, and how long. Run as a script: a file, then the command.

Only time on the processor counts: on a busy machine every callback waits for its turn. It runs on asyncio's own
loop, since uvloop's callbacks cannot be timed. A collection of garbage holds the loop on whatever thread it is.
"""

import asyncio
import gc
import json
import sys
import threading
import time
from asyncio import selector_events
from collections.abc import Coroutine
from contextvars import Context, ContextVar
from pathlib import Path
from typing import Any, Final

import uvloop

from wmsd.app.call import Call
from wmsd.app.dispatcher import Dispatcher, PendingCall
from wmsd.interfaces.cli.main import main

HELD_SECONDS: Final = 0.05
LONGEST_SECONDS: Final = 30.0
OPERATION: Final[ContextVar[str]] = ContextVar("operation", default="")


def watched(file: Path) -> None:
    """Replaces what asks for it, in this process."""
    noted = file.open("a", encoding="utf-8")
    run_handle, begin, dispatch = asyncio.Handle._run, Dispatcher.begin, Dispatcher.dispatch
    socket_transport = vars(selector_events)["_SelectorSocketTransport"]
    connection_lost = socket_transport._call_connection_lost

    def note(kind: str, seconds: float, operation: str) -> None:
        print(
            json.dumps({"kind": kind, "seconds": round(seconds, 4), "operation": operation}),
            file=noted,
            flush=True,
        )

    collecting = [0.0, 0.0]
    """When the collection of garbage that is under way began, and how long those of this callback took."""

    def collected(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            collecting[0] = time.thread_time()
            return
        seconds = time.thread_time() - collecting[0]
        if threading.current_thread() is threading.main_thread():
            collecting[1] += seconds
        if seconds > HELD_SECONDS:
            note("held", seconds, f"a collection of {info['collected']} objects")

    def run(handle: asyncio.Handle) -> None:
        began, collecting[1] = time.thread_time(), 0.0
        run_handle(handle)
        seconds = time.thread_time() - began - collecting[1]
        if seconds > HELD_SECONDS:
            context: Context = vars(asyncio.Handle)["_context"].__get__(handle)
            note("held", seconds, context.get(OPERATION, "") or repr(handle)[:200])

    async def noted_begin(dispatcher: Dispatcher, call: Call) -> PendingCall:
        OPERATION.set(call.operation.name)
        return await begin(dispatcher, call)

    async def timed_perform(dispatcher: Dispatcher, call: Call) -> Any:
        began = time.monotonic()
        try:
            return await dispatch(dispatcher, call)
        finally:
            seconds = time.monotonic() - began
            if seconds > LONGEST_SECONDS:
                note("long", seconds, call.operation.name)

    def lose(transport: asyncio.Transport, error: Exception | None) -> None:
        """Leaves no garbage: asyncio's transports refer to themselves, uvloop's do not."""
        connection_lost(transport, error)
        vars(transport)["_read_ready_cb"] = None

    gc.callbacks.append(collected)
    for owner, name, replacement in (
        (asyncio.Handle, "_run", run),
        (socket_transport, "_call_connection_lost", lose),
        (Dispatcher, "begin", noted_begin),
        (Dispatcher, "dispatch", timed_perform),
    ):
        setattr(owner, name, replacement)


def run_on_asyncio(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


if __name__ == "__main__":
    watched(Path(sys.argv.pop(1)))
    setattr(uvloop, "run", run_on_asyncio)  # noqa: B010  (its type is another)
    main()
