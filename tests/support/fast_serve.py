"""`wmsd` with a fast clock. Run as a script with the file of the clock and then the words of the command."""

import sys
from datetime import datetime
from pathlib import Path

from tests.support.fast_clock import FastClock
from wmsd.base.clock import SystemClock
from wmsd.interfaces.cli.main import main


def serve() -> None:
    clock = FastClock(Path(sys.argv.pop(1)))

    def now(self: SystemClock) -> datetime:
        return clock.now()

    def passed(self: SystemClock) -> float:
        return clock.passed()

    SystemClock.now = now  # type: ignore[method-assign]  # in this process only
    SystemClock.passed = passed  # type: ignore[method-assign]  # as above
    main()


if __name__ == "__main__":
    serve()
