"""A check whether another process has a file open."""

from contextlib import closing
from pathlib import Path

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import connect, sqlite3


def check_unused(path: Path) -> None:
    """Raise StorageError if another process has the file open. Raise sqlite3.Error if the file cannot be read."""
    if not path.exists():
        raise StorageError(f"{path} is missing. Restore it from a backup.")
    try:
        with closing(connect(path, busy_seconds=0.0, alone=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise StorageError(
                f"Another program is using {path}. Wait until it has finished, and try again."
            ) from None
        raise
