"""Ends the process although a write goes on for ever: after its time at the stop it is left behind.

SQLite rolls back what was not committed, and nobody was told of it. The write is not interrupted: that would roll
back the writes of others that share its commit.
"""

import logging
import os
import threading
from collections.abc import Callable
from typing import Final

from wmsd.db.engine.database import Database
from wmsd.db.files.company_files import CompanyFiles
from wmsd.log import output as logs

LOG = logging.getLogger("wmsd.serve")
SECONDS: Final = 10.0
AGAIN_SECONDS: Final = 1.0
LEFT_BEHIND: Final = (
    "stopped while a write of %s went on: it is rolled back, and nobody was told that it was done. `wmsd doctor` "
    "says whether the file is right"
)


class StopDeadline:
    """`instead` is called before the process ends; it may begin another program in its place."""

    def __init__(self, platform: Database, files: CompanyFiles, instead: Callable[[], None]) -> None:
        self._platform = platform
        self._files = files
        self._instead = instead
        self._is_over = threading.Event()

    def begin(self) -> None:
        """When the stop begins. A daemon thread: it may not hold up the end itself."""
        threading.Thread(target=self._wait, name="wmsd-stop", daemon=True).start()

    def end(self) -> None:
        """When everything is closed."""
        self._is_over.set()

    def _wait(self) -> None:
        seconds = SECONDS
        while not self._is_over.wait(seconds):
            platform = [self._platform.path.name] if self._platform.is_writing else []
            if busy := [*self._files.writing(), *platform]:
                LOG.warning(LEFT_BEHIND, ", ".join(busy))
                logs.flush()
                self._instead()
                os._exit(0)
            seconds = AGAIN_SECONDS
