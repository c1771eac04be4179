"""Folders that are broken in one way, and the findings of the doctor about them."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.read_settings import load_settings
from wmsd.contract.findings import Finding
from wmsd.data_folder import clock_watch
from wmsd.data_folder.folder import DataFolder
from wmsd.maintenance.doctor.examine import Examination
from wmsd.maintenance.doctor.file_systems import FileSystem
from wmsd.maintenance.doctor.mailboxes import read_emails
from wmsd.maintenance.doctor.situation import Situation

NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
GOOD_DISK = FileSystem("ext4", free=50_000_000_000, bytes=100_000_000_000, free_files=1_000_000)
UNUSED_PORT = "127.0.0.1:0"
NOBODY = 65534


def situation(data: Path, settings: dict[str, dict[str, Any]] | None = None, **changes: Any) -> Situation:
    """Return the situation that the command would see on a good disk. `settings` are passed as environment
    variables.
    """
    folder = DataFolder(data)
    examination = Examination(folder)
    codes = examination.companies()
    given = {"WMSD_SERVER_LISTEN": UNUSED_PORT, "WMSD_BACKUP_FOLDER": str(data.parent / "backups")}
    for section, values in (settings or {}).items():
        given |= {f"WMSD_{section}_{key}".upper(): str(value) for key, value in values.items()}
    known: dict[str, Any] = {
        "folder": folder,
        "settings": load_settings(environment=given),
        "now": NOW,
        "codes": codes,
        "marks": examination.marks,
        "clock": examination.read_platform(clock_watch.known),
        "emails": examination.read_platform(read_emails) or (),
        "file_system_of": lambda path: GOOD_DISK,
        "temporary": data.parent,
    }
    return Situation(**{**known, **changes})


def names(found: Iterable[Finding]) -> list[str]:
    return [finding.kind.name for finding in found]


def told(found: Iterable[Finding], name: str) -> str:
    """Return the sentence of the only finding of that kind."""
    (finding,) = [each for each in found if each.kind.name == name]
    return finding.sentence


def as_of(data: Path, moment: datetime) -> None:
    """Set the modification time of every file to `moment`."""
    for path in data.rglob("*"):
        os.utime(path, (moment.timestamp(), moment.timestamp()), follow_symlinks=False)


def state(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Return the state of everything in a folder: mode, size, modification time and content, by relative path."""
    return {
        str(path.relative_to(folder)): (
            (status := path.lstat()).st_mode,
            status.st_size if path.is_file() else 0,
            status.st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *sorted(folder.rglob("*"))]
    }
