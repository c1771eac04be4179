"""What is kept of a company's file that somebody removed while it was served: a copy beside its place."""

from datetime import datetime
from pathlib import Path
from typing import Final

from wmsd.base import timestamps

REMOVED: Final = ".removed-"


def copy_at(path: Path, now: datetime) -> Path:
    return path.with_name(f"{path.name}{REMOVED}{timestamps.for_file_name(now)}")


def newest_copy(path: Path) -> Path | None:
    """Of the file that was there; None where nothing was kept."""
    return max(path.parent.glob(f"{path.name}{REMOVED}*"), default=None)
