"""The record of the running or last upgrade of a data folder: `upgrade.json`.

`wmsd upgrade` writes this file before it installs the new program, and every server reads the file when it starts.
Therefore the command and the server know what to do, even after a power failure.
"""

from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from wmsd.base.machine.json_file import StoredModel, write_json_file
from wmsd.data_folder.file_swap import sync
from wmsd.data_folder.messages import refuse_others
from wmsd.db.engine.failures import StorageError

FILE: Final = "upgrade.json"


class Upgrade(StoredModel):
    from_version: str
    to_version: str
    program: str
    """The path of the executable. The previous executable is next to it (see `program_file.py`)."""
    began_at: str
    unavailable: list[int] = []
    """The companies whose files could not be used before the upgrade."""
    outcome: Literal["under way", "done", "went back"] = "under way"
    reason: str = ""
    """The reason why the upgrade was reverted, as a sentence."""


def read_upgrade(data: Path) -> Upgrade | None:
    """Return the upgrade, or None if there was none. Raise StorageError if the file cannot be read."""
    path = data / FILE
    try:
        return Upgrade.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        if isinstance(error, OSError):
            refuse_others(data, error)
        reason = (error.strerror or "").lower() if isinstance(error, OSError) else "it is damaged"
        raise StorageError(
            f"{path} cannot be read: {reason}. This file records the progress of an upgrade. If no upgrade "
            "is running, delete the file."
        ) from None


def write_upgrade(data: Path, upgrade: Upgrade) -> None:
    """Write the upgrade to the disk. Raise OSError if that fails."""
    write_json_file(data / FILE, upgrade)
    sync(data)
