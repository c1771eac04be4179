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


def begin_deadline(platform: Database, files: CompanyFiles, instead: Callable[[], None]) -> Callable[[], None]:
    """Begins the time of a stop. Gives what ends it, when everything is closed.

    `instead` is called before the process ends; it may begin another program in its place.
    """
    is_over = threading.Event()

    def wait() -> None:
        seconds = SECONDS
        while not is_over.wait(seconds):
            platform_name = [platform.path.name] if platform.is_writing else []
            if busy := [*files.writing(), *platform_name]:
                LOG.warning(LEFT_BEHIND, ", ".join(busy))
                logs.flush()
                instead()
                os._exit(0)
            seconds = AGAIN_SECONDS

    threading.Thread(target=wait, name="wmsd-stop", daemon=True).start()  # it may not hold up the end itself
    return is_over.set
