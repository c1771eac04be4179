"""Files that only their owner may read."""

import os
from pathlib import Path
from typing import IO


def new_private(path: Path) -> IO[bytes]:
    """A new file, open for writing. Raises OSError, such as FileExistsError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
