"""Where the log is a file, the terminal is shown what a start warns of, and the log has what ends it."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.log.output import HumanFormatter
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.log import Log

LOG = logging.getLogger("wmsd.serve")


@contextmanager
def start_log(settings: Log, complete: Complete = NOTHING_ADDED) -> Iterator[Callable[[], None]]:
    """Yields what to call when the start is over: from then on warnings are in the log alone."""
    if not settings.file:  # the log is what the terminal shows
        yield lambda: None
        return
    terminal = logging.StreamHandler(sys.stderr)
    terminal.addFilter(lambda record: record.levelno >= logging.WARNING)  # lines of requests pass by a level
    terminal.setFormatter(HumanFormatter(settings.local_time, complete))
    root = logging.getLogger()
    root.addHandler(terminal)
    try:
        yield partial(root.removeHandler, terminal)
    except Exception as error:
        what = "a start failed" if terminal in root.handlers else "the server ends"
        root.removeHandler(terminal)  # the command prints it
        is_known = isinstance(error, (SettingsError, StorageError, *STORAGE_FAILURES))
        LOG.error("%s: %s", what, " ".join(str(error).split()), exc_info=None if is_known else error)
        raise
    finally:
        root.removeHandler(terminal)
