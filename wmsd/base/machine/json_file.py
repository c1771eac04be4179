"""Small files in the data folder that contain one model as JSON. A file is written whole or not at all."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wmsd.base.machine.private_files import replace_private


class StoredModel(BaseModel):
    """A model that is stored in a file. Unknown fields are ignored, because another version of wmsd may have
    written the file.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


Stored = TypeVar("Stored", bound=BaseModel)


def find_in_json_file(file: Path, model: type[Stored], most: int = -1) -> Stored | None:
    """Return the model in the file, or None if the file is missing, cannot be read or has other content.

    Read at most `most` bytes, by default the whole file. A file that wmsd has written is never longer than `most`.
    """
    try:
        with file.open("rb") as opened:
            return model.model_validate_json(opened.read(most))
    except (OSError, ValidationError):
        return None


def read_json_file(file: Path, otherwise: Stored, most: int = -1) -> Stored:
    """Return the model in the file. Return `otherwise` if the file is missing, cannot be read or has other
    content.
    """
    return find_in_json_file(file, type(otherwise), most) or otherwise


def write_json_file(file: Path, kept: BaseModel) -> None:
    """Write the model `kept` to the file, and replace the old content. The file gets the owner of the folder.
    Raise OSError if that fails.
    """
    replace_private(file, kept.model_dump_json(indent=1).encode())
