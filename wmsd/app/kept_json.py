"""Small files in the data folder that hold one model as JSON. They are written whole or not at all."""

import os
from pathlib import Path

from pydantic import BaseModel


def write_kept_json(file: Path, kept: BaseModel) -> None:
    """Raises OSError."""
    unfinished = file.with_name(f"{file.name}.new")
    with unfinished.open("w", encoding="utf-8") as opened:
        opened.write(kept.model_dump_json(indent=1))
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.rename(file)
