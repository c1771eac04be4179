"""`wmsd` whose event loop is held for good at a signal. Run as a script, with the command's words."""

import asyncio
import signal
import time
from collections.abc import Coroutine
from typing import Any

import uvloop

from wmsd.interfaces.cli.main import main

run = uvloop.run
FOR_GOOD = 3600.0


def run_until_told(work: Coroutine[Any, Any, None]) -> None:
    async def told() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, time.sleep, FOR_GOOD)
        await work

    run(told())


if __name__ == "__main__":
    setattr(uvloop, "run", run_until_told)  # noqa: B010  (its type is another)
    main()
