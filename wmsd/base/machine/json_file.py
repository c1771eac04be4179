"""Small files in the data folder that hold one model as JSON. They are written whole or not at all."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wmsd.base.machine.private_files import replace_private


class StoredModel(BaseModel):
    """What is written for a later time, or for another process. Another version may have written more."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


Stored = TypeVar("Stored", bound=BaseModel)


def read_json_file(file: Path, otherwise: Stored) -> Stored:
    """What the file holds; `otherwise` where it is not there, or cannot be read."""
    try:
        return type(otherwise).model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return otherwise


def write_json_file(file: Path, kept: BaseModel) -> None:
    """It belongs to the owner of the folder, whoever writes it. Raises OSError."""
    replace_private(file, kept.model_dump_json(indent=1).encode())
