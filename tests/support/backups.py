"""Backups as their user meets them."""

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
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}


def back_up(home: Home, *options: str | Path) -> Path:
    """The archive of a backup that must succeed."""
    return home.folder / str(home.ok("backup", "create", "--json", *options).json["backup"])


def newest_name() -> str:
    """For an archive that is newer than all others, and not so much that its clock was wrong."""
    return f"wmsd-{datetime.now(UTC) + timedelta(hours=1):{MOMENT}}Z.tar.gz"


def restore(home: Home, archive: Path, *options: str | Path) -> dict[str, Any]:
    """What a restore that must succeed prints."""
    shown: dict[str, Any] = home.ok("backup", "restore", archive, "--yes", "--json", *options).json
    return shown


def manifest(archive: Path) -> dict[str, Any]:
    """As somebody without wmsd reads it."""
    with tarfile.open(archive) as tar:
        found = tar.extractfile("manifest.json")
        assert found is not None
        read: dict[str, Any] = json.load(found)
        return read


def unpacked(archive: Path, folder: Path) -> list[str]:
    """The names that Debian's `tar` finds, which unpacks them."""
    folder.mkdir()
    subprocess.run(["tar", "--extract", "--gzip", "--file", archive, "--directory", folder], check=True)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def rewritten(archive: Path, change: Callable[[bytearray], None]) -> Path:
    """A copy of the archive with other bytes."""
    content = bytearray(archive.read_bytes())
    change(content)
    copy = archive.with_name("changed.tar.gz")
    copy.write_bytes(content)
    return copy


def damage(archive: Path) -> None:
    """Overwrites some bytes in the middle. A single one may be where it makes no difference: in a long run of
    zeros, the distance that they are repeated from.
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
    """A backup with the article KEPT; LOST was added after it."""
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


def is_right_but_for_the_day_after(home: Home) -> bool:
    """Every file is right, and all that is wrong is what the restore has lost or brought back."""
    *files, installation = home.run("doctor", "--json").json
    wrong = {each["check"] for each in installation["installation"] if each["severity"] == "wrong"}
    return all(report["ok"] for report in files) and wrong <= {kind.name for kind in OF_RECOVERY}
