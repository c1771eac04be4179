"""The files of a data folder, with their size and schema version. No file is opened as a database."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from wmsd.db.engine.raw_files import first_bytes
from wmsd.db.engine.sqlite import log_bytes
from wmsd.db.migrations import COMPANY, HEADER, MAGIC, PLATFORM, FileKind
from wmsd.maintenance.doctor.situation import COMPANY_FILE

MOST_FILES: Final = 20_000
SUMMED: Final = ("imports", "requests", "tls")
"""Folders with many files, or with names of users' files. Only the number and total size of these files are
reported.
"""


def files(data: Path) -> dict[str, Any]:
    """List the files of the data folder and its subfolders. For the folders in `SUMMED`, return only totals. Raise
    OSError if that fails.
    """
    shown = list(_listed(data, ""))
    for entry in sorted(data.iterdir()):
        if entry.is_dir() and not entry.is_symlink() and entry.name not in SUMMED:
            shown += list(_listed(entry, f"{entry.name}/"))[: max(0, MOST_FILES - len(shown))]
    return {"files": shown[:MOST_FILES], "folders": {name: _sum(data / name) for name in SUMMED}}


def _listed(folder: Path, before: str) -> Iterator[dict[str, Any]]:
    for entry in sorted(folder.iterdir()):
        try:
            status = entry.lstat()
        except OSError:
            continue  # the file was removed meanwhile
        if stat.S_ISDIR(status.st_mode):
            continue
        yield {
            "name": f"{before}{entry.name}",
            "bytes": status.st_size,
            "on_disk": status.st_blocks * 512,
            "mode": stat.filemode(status.st_mode),
            "user": status.st_uid,
            "written_at": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
        }


def _sum(folder: Path) -> dict[str, int]:
    number = size = 0
    files = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    for file in islice(files, MOST_FILES):
        number += 1
        with suppress(OSError):
            size += file.lstat().st_size
    return {"files": number, "bytes": size}


def schemas(platform: Path, companies: Path) -> dict[str, Any]:
    """Return the schema version in the header of each file, and the newest version of this program, as JSON."""
    of_companies = {path.name: _schema(path, COMPANY) for path in sorted(companies.glob("*.db"))[:MOST_FILES]}
    program = {kind.name: len(kind.scripts()) for kind in (PLATFORM, COMPANY)}
    return {"of_this_program": program, "of_files": {platform.name: _schema(platform, PLATFORM), **of_companies}}


def _schema(path: Path, kind: FileKind) -> dict[str, Any]:
    """Read the schema version from the header. A change that is only in the write-ahead log is not in the header
    yet.
    """
    try:
        header = first_bytes(path, HEADER.size)
        log = log_bytes(path)
    except OSError as error:
        return {"error": error.strerror}
    if header is None or len(header) < HEADER.size:
        return {"error": "is too short"}
    magic, _, _, _, pages, version, application_id = HEADER.unpack(header)
    if magic != MAGIC:
        return {"error": "is not a SQLite file"}
    return {"schema": version, "pages": pages, "log_bytes": log, "is_ours": application_id == kind.application_id}


def companies(folder: Path, codes: dict[int, str] | None, with_names: bool) -> list[dict[str, Any]]:
    """List the companies by id, including companies whose file is missing.

    Each item has the company's id, the size of its file in bytes (None if the file is missing), and whether
    `codes` contains the company. `codes` has the codes of companies by id, or is None if they are not known. If
    `with_names` is True, each item also has the code.
    """
    on_disk = {int(path.stem): path for path in folder.glob("*.db") if COMPANY_FILE.fullmatch(path.name)}
    found = []
    for company_id in sorted({*on_disk, *(codes or {})}):
        path = on_disk.get(company_id)
        shown: dict[str, Any] = {
            "id": company_id,
            "bytes": None if path is None else path.stat().st_size,
            "is_known": None if codes is None else company_id in codes,
        }
        if with_names:
            shown["code"] = (codes or {}).get(company_id)
        found.append(shown)
    return found
