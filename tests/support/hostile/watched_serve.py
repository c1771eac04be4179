"""`wmsd` whose event loop says which operation held it, and how long. Run as a script: a file, then the command.

Only time on the processor counts: on a busy machine every callback waits for its turn. It runs on asyncio's own
loop, since uvloop's callbacks cannot be timed.
"""

import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import Coroutine
from contextvars import Context, ContextVar
from pathlib import Path
from typing import Any, Final

import uvloop

from wmsd.app.call import Call
from wmsd.app.door import Begun, Door
from wmsd.interfaces.cli.main import main

HELD_SECONDS: Final = 0.05
LONGEST_SECONDS: Final = 30.0
OPERATION: Final[ContextVar[str]] = ContextVar("operation", default="")


def watched(file: Path) -> None:
    """Replaces what asks for it, in this process."""
    noted = file.open("a", encoding="utf-8")
    run_handle, begin, perform = asyncio.Handle._run, Door.begin, Door.perform

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
        elif threading.current_thread() is threading.main_thread():
            collecting[1] += time.thread_time() - collecting[0]

    def run(handle: asyncio.Handle) -> None:
        began, collecting[1] = time.thread_time(), 0.0
        run_handle(handle)
        seconds = time.thread_time() - began - collecting[1]
        if collecting[1] > HELD_SECONDS:
            note("held", collecting[1], "a collection of garbage")
        if seconds > HELD_SECONDS:
            context: Context = vars(asyncio.Handle)["_context"].__get__(handle)
            note("held", seconds, context.get(OPERATION, "") or repr(handle)[:200])

    async def noted_begin(door: Door, call: Call) -> Begun:
        OPERATION.set(call.operation.name)
        return await begin(door, call)

    async def timed_perform(door: Door, call: Call) -> Any:
        began = time.monotonic()
        try:
            return await perform(door, call)
        finally:
            seconds = time.monotonic() - began
            if seconds > LONGEST_SECONDS:
                note("long", seconds, call.operation.name)

    gc.callbacks.append(collected)
    for owner, name, replacement in (
        (asyncio.Handle, "_run", run),
        (Door, "begin", noted_begin),
        (Door, "perform", timed_perform),
    ):
        setattr(owner, name, replacement)


def run_on_asyncio(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


if __name__ == "__main__":
    watched(Path(sys.argv.pop(1)))
    setattr(uvloop, "run", run_on_asyncio)  # noqa: B010  (its type is another)
    main()
