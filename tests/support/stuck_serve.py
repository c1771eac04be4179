"""`wmsd` whose event loop is blocked for good by a signal. Run as a script, with the words of the command."""

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
    setattr(uvloop, "run", run_until_told)  # noqa: B010  (mypy sees another type)
    main()
