"""A copy of platform.db without sessions, links and the keys that sign tokens and seal credentials, and these
keys.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.held_states import HeldState
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
"""A session that has ended, or a link that was used, must not come to life again with a restored copy."""
WITHOUT_KEYS: Final = ("DELETE FROM signing_keys", f"DELETE FROM secrets WHERE name IN ({NAMES})")

ADD_PHRASE: Final = """
    INSERT INTO recovery_phrases (recipient, created_at, checked_at, replaced_at) VALUES (?, ?, ?, ?)
"""

KeyRows = dict[str, list[list[str]]]
"""The rows of `signing_keys` and `secrets`, by table."""


def copy_platform(state: HeldState, path: Path) -> KeyRows | None:
    """Writes the copy to `path`, which must not exist. Returns the keys; None where they are sealed and so stay
    in it. Runs on a thread. Raises StorageError, sqlite3.Error and OSError.
    """
    keys = state.read(read_keys)
    are_sealed = all(row[1].startswith(SEALED) for rows in keys.values() for row in rows)
    state.copy_without(path, (*WITHOUT_OPEN_DOORS, *(() if are_sealed else WITHOUT_KEYS)))
    return None if are_sealed else keys


def read_keys(tx: Transaction) -> KeyRows:
    """The keys as they are kept, in clear or sealed."""
    return {
        "signing_keys": [list(row) for row in tx.rows(SIGNING_KEYS)],
        "secrets": [list(row) for row in tx.rows(SECRETS)],
    }


def put_keys(platform: Path, keys: KeyRows) -> None:
    """Puts the keys into a copy without them. Raises StorageError when they are none, and sqlite3.Error."""
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
    """Puts these recovery phrases into a copy, the oldest first: one that was replaced since must not come back.
    Raises StorageError and sqlite3.Error.
    """
    migrate(platform, PLATFORM)  # an older copy has no table for them
    with sole_transaction(platform) as connection:
        connection.execute("DELETE FROM recovery_phrases")
        connection.executemany(ADD_PHRASE, phrases)
