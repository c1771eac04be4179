"""The upgrade of a data folder that is under way, or was the last one: `upgrade.json`.

The command writes it down before it puts the new program in place, and every server reads it when it starts. So
each of them knows what is to be done, also after a power cut.
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
    """The path of the executable. The previous one is beside it (see `program_file.py`)."""
    began_at: str
    unavailable: list[int] = []
    """The companies whose files could not be used before."""
    outcome: Literal["under way", "done", "went back"] = "under way"
    reason: str = ""
    """Why it went back, in a sentence."""


def read_upgrade(data: Path) -> Upgrade | None:
    """None when there was none. Raises StorageError when the file cannot be read."""
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
            f"{path} cannot be read: {reason}. It says how far an upgrade has come. When no upgrade is under way, "
            "delete it."
        ) from None


def write_upgrade(data: Path, upgrade: Upgrade) -> None:
    """To the disk. Raises OSError."""
    write_json_file(data / FILE, upgrade)
    sync(data)
