"""Backups as their user sees them."""

import json
import subprocess
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.command import Home, Server
from wmsd.db.engine.sqlite import sqlite3
from wmsd.maintenance.backups.folder import MOMENT
from wmsd.maintenance.doctor.findings import OF_RECOVERY

PASSPHRASE = "correct horse battery staple"
"""A passphrase. The encryption with a passphrase takes a second of the processor by design."""
RECOVERY_WORDS = "wild core ticket buyer casual milk paddle erosion raw mad knock cruel"
"""A recovery phrase, which may also stand in a passphrase file. The encryption with it takes no time."""
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}


def back_up(home: Home, *options: str | Path) -> Path:
    """Create a backup, which must succeed, and return its archive."""
    return home.folder / str(home.ok("backup", "create", "--json", *options).json["backup"])


def newest_name() -> str:
    """Return a name for an archive that is newer than all others.

    The time in the name is only one hour ahead, so that wmsd does not suspect a wrong clock.
    """
    return f"wmsd-{datetime.now(UTC) + timedelta(hours=1):{MOMENT}}Z.tar.gz"


def restore(home: Home, archive: Path, *options: str | Path) -> dict[str, Any]:
    """Restore an archive, which must succeed, and return the printed JSON."""
    shown: dict[str, Any] = home.ok("backup", "restore", archive, "--yes", "--json", *options).json
    return shown


def manifest(archive: Path) -> dict[str, Any]:
    """Return the manifest of an archive, read without wmsd."""
    with tarfile.open(archive) as tar:
        found = tar.extractfile("manifest.json")
        assert found is not None
        read: dict[str, Any] = json.load(found)
        return read


def unpacked(archive: Path, folder: Path) -> list[str]:
    """Unpack the archive with Debian's `tar` and return the names of the files."""
    folder.mkdir()
    subprocess.run(["tar", "--extract", "--gzip", "--file", archive, "--directory", folder], check=True)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def rewritten(archive: Path, change: Callable[[bytearray], None]) -> Path:
    """Return a copy of the archive whose bytes were changed by `change`."""
    content = bytearray(archive.read_bytes())
    change(content)
    copy = archive.with_name("changed.tar.gz")
    copy.write_bytes(content)
    return copy


def damage(archive: Path) -> None:
    """Overwrite 64 bytes in the middle of the archive.

    A single byte may make no difference, for example within a long run of zeros.
    """
    content = bytearray(archive.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(range(64))
    archive.write_bytes(content)


def articles(server: Server) -> list[str]:
    return [record["code"] for record in server.get("/api/articles?per_page=100")[1]["data"]]


def add_article(server: Server, code: str) -> None:
    assert server.send("POST", "/api/articles", {"code": code, "name": code})[0] == 201


def backup_before_the_last_article(home: Home) -> Path:
    """Return a backup that contains the article KEPT but not LOST, which is added after the backup."""
    with home.serving(env=UNLIMITED) as server:
        add_article(server, "KEPT")
        archive = back_up(home)
        add_article(server, "LOST")
    return archive


def sql(file: Path, statement: str) -> list[Any]:
    connection = sqlite3.connect(file)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def is_right(home: Home) -> bool:
    return all(report["ok"] for report in home.ok("doctor", "--json").json)


def is_right_but_for_open_entries(home: Home) -> bool:
    """Return True if every file is right and all findings of the installation are about recovery.

    A restore causes such findings: they name what was lost or brought back.
    """
    *files, installation = home.run("doctor", "--json").json
    wrong = {each["check"] for each in installation["installation"] if each["severity"] == "wrong"}
    return all(report["ok"] for report in files) and wrong <= {kind.name for kind in OF_RECOVERY}
