"""What wmsd has begun and not finished, because it was killed: files that nobody uses any more."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from wmsd.app.backups.backup_folder import UNFINISHED
from wmsd.app.diagnosis.finding import FindingKind, Found
from wmsd.app.diagnosis.situation import Situation
from wmsd.db.unwritten import SCRATCH

UNUSED_AFTER: Final = timedelta(hours=1)
"""A file that is being written has changed since."""
IN_DATA: Final = ("*.json.new", "platform.db.new*", "companies/*.db.new*", "tls/*.new", ".wmsd-probe")

LEFTOVER: Final = FindingKind(
    "leftover",
    "warning",
    "{file} was begun at {begun} and never finished. Nobody uses it.",
    "Delete it.",
)
KINDS: Final = (LEFTOVER,)


def look(at: Situation) -> Found:
    before = at.now - UNUSED_AFTER
    for path in _unfinished(at):
        try:
            changed = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            continue
        if changed < before:
            yield LEFTOVER.of(path, begun=f"{changed:%Y-%m-%d %H:%M} UTC")


def _unfinished(at: Situation) -> Iterator[Path]:
    for pattern in IN_DATA:
        yield from sorted(at.data.glob(pattern))
    with suppress(OSError):  # what hides them from this user is told of where the settings are examined
        yield from sorted(at.backups.glob(f"{UNFINISHED}*"))
    yield from sorted(path for path in at.temporary.glob(f"{SCRATCH}*") if _is_of(path, at.user))


def _is_of(path: Path, user: int) -> bool:
    try:
        return path.lstat().st_uid == user
    except OSError:
        return False
