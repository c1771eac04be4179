"""A lock for what is read in a folder, changed and written again: small files that are replaced hold none."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wmsd.base.machine.descriptors import open_descriptor


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lets one at a time change what is in the folder; the others wait. For moments only. Raises OSError."""
    with open_descriptor(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
