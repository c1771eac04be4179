"""Small files in the data folder that hold one model as JSON. They are written whole or not at all."""

import os
from pathlib import Path

from pydantic import BaseModel

from wmsd.base.machine.private_files import new_private


def write_json_file(file: Path, kept: BaseModel) -> None:
    """It belongs to the owner of the folder, whoever writes it. Raises OSError."""
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.unlink(missing_ok=True)
    with new_private(unfinished) as opened:
        opened.write(kept.model_dump_json(indent=1).encode())
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.rename(file)
