"""Small files in the data folder that hold one model as JSON. They are written whole or not at all."""

from pathlib import Path

from pydantic import BaseModel

from wmsd.base.machine.private_files import replace_private


def write_json_file(file: Path, kept: BaseModel) -> None:
    """It belongs to the owner of the folder, whoever writes it. Raises OSError."""
    replace_private(file, kept.model_dump_json(indent=1).encode())
