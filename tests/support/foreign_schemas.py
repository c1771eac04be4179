"""Changes that an attacker may make to the schema of a file, and archives that contain such a file with correct
checksums.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from wmsd.db.engine.sqlite import sqlite3
from wmsd.maintenance.backups.archive import ArchiveWriter, opened_entry, read_manifest

ENDLESS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
TRIGGER: Final = f"CREATE TRIGGER evil AFTER UPDATE ON articles BEGIN SELECT ({ENDLESS}); END"
PLATFORM_TRIGGER: Final = f"CREATE TRIGGER evil AFTER UPDATE ON companies BEGIN SELECT ({ENDLESS}); END"


def change(file: Path, *statements: str) -> None:
    """Run the SQL statements in the file. No other program may have the file open."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def altered(archive: Path, name: str, *statements: str) -> Path:
    """Return a copy of the archive in which the statements changed the file `name`.

    The manifest matches the change.
    """
    manifest = read_manifest(archive)
    copy = archive.with_name(f"altered-{archive.name}")
    with copy.open("wb") as out, tempfile.TemporaryDirectory() as folder:
        writer = ArchiveWriter(out, datetime.now(UTC))
        files = []
        for each in manifest.files:
            unpacked = Path(folder) / "file.db"
            with opened_entry(archive, each.at) as entry:
                unpacked.write_bytes(b"".join(entry.pieces()))
            if each.path == name:
                change(unpacked, *statements)
            content = unpacked.read_bytes()
            added = writer.add(each.path, len(content), _pieces(content))
            sums = {"at": added.at, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            files.append(each.model_copy(update=sums))
        writer.finish(manifest.model_copy(update={"files": files}))
    return copy


def _pieces(content: bytes) -> Iterator[bytes]:
    yield from (content[at : at + 65536] for at in range(0, len(content), 65536))
