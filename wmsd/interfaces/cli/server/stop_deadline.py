"""The deadline of a server's stop: after 10 seconds the process ends, even if a write has not finished.

SQLite rolls back the uncommitted changes of such a write, and no client has been told that they succeeded. Before
the deadline, wmsd does not interrupt a write, because this also rolls back other writes with the same commit.
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
    "stopped during a write to %s: the write is rolled back, and no client was told that it "
    "succeeded; check the file with `wmsd doctor`"
)


def begin_deadline(platform: Database, files: CompanyFiles, instead: Callable[[], None]) -> Callable[[], None]:
    """Start the deadline of a stop. Return a function that cancels the deadline, to be called when all files are
    closed.

    If the deadline ends the process, `instead` is called just before. It may start another program in the same
    process.
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

    # a daemon, because it must not delay the end of the process
    threading.Thread(target=wait, name="wmsd-stop", daemon=True).start()
    return is_over.set
