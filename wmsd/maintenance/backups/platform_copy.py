"""Copies platform.db without its sessions, links and keys, and returns the keys separately.

The keys sign tokens and encrypt credentials.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import Snapshot
from wmsd.db.engine.sqlite import sole_transaction, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.migrations import PLATFORM, migrate
from wmsd.tenants.keys.key_store import KEY_SECRETS
from wmsd.tenants.keys.master_key import SEALED
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

NAMES: Final = ", ".join(f"'{name}'" for name in KEY_SECRETS)
SIGNING_KEYS: Final = "SELECT kid, secret, created_at FROM signing_keys ORDER BY position"
SECRETS: Final = f"SELECT name, value FROM secrets WHERE name IN ({NAMES})"
WITHOUT_OPEN_DOORS: Final = ("DELETE FROM sessions", "DELETE FROM invitations")
"""The statements that delete sessions and one-time links from a copy. Otherwise restoring the copy would make them
valid again.
"""
WITHOUT_KEYS: Final = ("DELETE FROM signing_keys", f"DELETE FROM secrets WHERE name IN ({NAMES})")

ADD_PHRASE: Final = """
    INSERT INTO recovery_phrases (recipient, created_at, checked_at, replaced_at) VALUES (?, ?, ?, ?)
"""

KeyRows = dict[str, list[list[str]]]
"""The rows of `signing_keys` and `secrets`, by table."""


def copy_platform(state: Snapshot, path: Path) -> KeyRows | None:
    """Write a copy of platform.db to `path`, which must not exist. Return the keys. Return None if the keys are
    sealed: sealed keys stay in the copy.

    Call this function on a thread. Raise StorageError, sqlite3.Error or OSError if that fails.
    """
    keys = state.read(read_keys)
    are_sealed = all(row[1].startswith(SEALED) for rows in keys.values() for row in rows)
    state.copy_without(path, (*WITHOUT_OPEN_DOORS, *(() if are_sealed else WITHOUT_KEYS)))
    return None if are_sealed else keys


def read_keys(tx: Transaction) -> KeyRows:
    """Return the keys as they are stored, in clear text or sealed."""
    return {
        "signing_keys": [list(row) for row in tx.rows(SIGNING_KEYS)],
        "secrets": [list(row) for row in tx.rows(SECRETS)],
    }


def put_keys(platform: Path, keys: KeyRows) -> None:
    """Put the keys into a copy of platform.db. Existing keys in the copy are deleted.

    Raise StorageError if the keys are not valid, and sqlite3.Error if the copy cannot be written.
    """
    with sole_transaction(platform) as connection:
        for statement in WITHOUT_KEYS:
            connection.execute(statement)
        try:
            for row in keys["signing_keys"]:
                connection.execute("INSERT INTO signing_keys (kid, secret, created_at) VALUES (?, ?, ?)", row)
            for row in keys["secrets"]:
                connection.execute("INSERT INTO secrets (name, value) VALUES (?, ?)", row)
        except (KeyError, TypeError, sqlite3.Error) as error:
            raise StorageError(f"The keys in the backup cannot be used: {error}.") from None


def put_phrases(platform: Path, phrases: Sequence[KnownPhrase]) -> None:
    """Replace the recovery phrases in a copy of platform.db by `phrases`, the oldest first. So a phrase that was
    replaced after the copy was created does not become valid again.

    Raise StorageError or sqlite3.Error if that fails.
    """
    migrate(platform, PLATFORM)  # an older copy has no table for recovery phrases
    with sole_transaction(platform) as connection:
        connection.execute("DELETE FROM recovery_phrases")
        connection.executemany(ADD_PHRASE, phrases)
