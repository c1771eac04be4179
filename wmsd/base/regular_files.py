"""Files that are read whole. A FIFO would keep its reader waiting, and a device may never end."""

import errno
import os
import stat
from pathlib import Path
from typing import Final

NOT_REGULAR: Final = "it is not a regular file"


def check_regular(path: Path) -> None:
    """Raises OSError unless it is a file with an end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
