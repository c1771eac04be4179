"""Reads and writes the keys of the installation: the keys that sign tokens, and two other secrets."""

from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.keys.master_key import SEALED, MasterKey

KEYS: Final = "SELECT kid, secret FROM signing_keys ORDER BY position DESC LIMIT 2"
ADD_KEY: Final = "INSERT INTO signing_keys (kid, secret, created_at) VALUES (?, ?, ?)"
KEEP_KEYS: Final = """
    DELETE FROM signing_keys
    WHERE position NOT IN (SELECT position FROM signing_keys ORDER BY position DESC LIMIT 2)
"""


SECRET: Final = "SELECT value FROM secrets WHERE name = ?"
KEY_SECRETS: Final = ("cursor", "vault")
"""The names of the two secrets that are keys. wmsd signs cursors with `cursor`. It encrypts with `vault` the texts
that must not be readable in a database file.
"""


def signing_keys(tx: Transaction) -> list[tuple[str, str]]:
    """Return the key id and the secret of each accepted signing key, the newest first."""
    unseal = tx.service(MasterKey).unseal
    return [(row[0], unseal(row[1])) for row in tx.rows(KEYS)]


def add_signing_key(tx: Transaction, kid: str, secret: str) -> None:
    """Add a key, with which all tokens are signed from now on. Tokens that the previous key has signed are still
    accepted. Older keys are deleted.
    """
    tx.execute(ADD_KEY, (kid, tx.service(MasterKey).seal(secret), tx.timestamp))
    tx.execute(KEEP_KEYS)


def secret(tx: Transaction, name: str) -> str | None:
    return tx.find_text(SECRET, (name,))


def set_secret(tx: Transaction, name: str, value: str) -> None:
    tx.execute("INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)", (name, value))


def drop_secret(tx: Transaction, name: str) -> bool:
    return tx.execute("DELETE FROM secrets WHERE name = ?", (name,)).rowcount > 0


def key_secrets(tx: Transaction) -> dict[str, str]:
    """Return the stored secrets in `KEY_SECRETS`, by name."""
    kept = {name: secret(tx, name) for name in KEY_SECRETS}
    return {name: tx.service(MasterKey).unseal(value) for name, value in kept.items() if value is not None}


def are_in_clear(tx: Transaction) -> bool:
    """Return True if a secret in `KEY_SECRETS` is stored in clear text."""
    return any(not (secret(tx, name) or SEALED).startswith(SEALED) for name in KEY_SECRETS)


def set_key_secret(tx: Transaction, name: str, value: str) -> None:
    set_secret(tx, name, tx.service(MasterKey).seal(value))


def reseal(tx: Transaction, new: MasterKey) -> None:
    """Decrypt the signing keys and the secrets in `KEY_SECRETS`. Encrypt them again with the newest secret of
    `new`.
    """
    for kid, key in signing_keys(tx):
        tx.execute("UPDATE signing_keys SET secret = ? WHERE kid = ?", (new.seal(key), kid))
    for name, value in key_secrets(tx).items():
        set_secret(tx, name, new.seal(value))
