"""Small files in the data folder that hold one model as JSON. They are written whole or not at all."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wmsd.base.machine.private_files import replace_private


class StoredModel(BaseModel):
    """What is written for a later time, or for another process. Another version may have written more."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


Stored = TypeVar("Stored", bound=BaseModel)


def find_in_json_file(file: Path, model: type[Stored], most: int = -1) -> Stored | None:
    """What the file holds; None where it is not there, or cannot be read. `most`: the bytes that are read, for a
    larger file is none of ours.
    """
    try:
        with file.open("rb") as opened:
            return model.model_validate_json(opened.read(most))
    except (OSError, ValidationError):
        return None


def read_json_file(file: Path, otherwise: Stored, most: int = -1) -> Stored:
    """As `find_in_json_file`, with `otherwise` in the place of None."""
    return find_in_json_file(file, type(otherwise), most) or otherwise


def write_json_file(file: Path, kept: BaseModel) -> None:
    """It belongs to the owner of the folder, whoever writes it. Raises OSError."""
    replace_private(file, kept.model_dump_json(indent=1).encode())
