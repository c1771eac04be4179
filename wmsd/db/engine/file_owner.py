"""The company to which a file belongs. The file stores it, so that no other company uses the file by mistake."""

from pathlib import Path
from typing import Final, NamedTuple

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction


class Owner(NamedTuple):
    """The company that owns a file, as stored in the file. Only `code` is shown to users."""

    installation: str
    company_id: int
    code: str


FIND: Final = "SELECT installation, company_id, code FROM owner"
CLAIM: Final = """
    INSERT INTO owner (one, installation, company_id, code) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING
"""


def claim_file(connection: sqlite3.Connection, path: Path, owner: Owner) -> None:
    """Record the owner in a file that has no owner yet. Raise WrongOwner if the file already has another owner.

    A file has no owner if it is new, or if an older version of wmsd created it.
    """
    if connection.execute(FIND).fetchone() is None:
        connection.execute(CLAIM, owner)
    check_owner(connection, path, owner)


def give_away(connection: sqlite3.Connection, owner: Owner) -> None:
    """Make another company the owner of a copied file.

    Raise sqlite3.Error if that fails.
    """
    connection.execute("DELETE FROM owner")
    connection.execute(CLAIM, owner)


def check_owner(connection: sqlite3.Connection | Transaction, path: Path, owner: Owner) -> None:
    """Raise WrongOwner if the file belongs to another company or another installation.

    Raise sqlite3.Error if the file cannot be read.
    """
    row = connection.execute(FIND).fetchone()
    if row is None:
        return
    found = Owner(*row)
    if found.installation != owner.installation:
        raise WrongOwner(path, f"company {found.code} of another installation", owner)
    if found.company_id != owner.company_id:
        raise WrongOwner(path, f"company {found.code} (id {found.company_id})", owner)


class WrongOwner(StorageError):
    """The error for a file that belongs to another company than its path says."""

    def __init__(self, path: Path, found: str, owner: Owner) -> None:
        super().__init__(
            f"{path} is the file of {found}, but must be the file of {owner.code} (id {owner.company_id}). "
            f"The file was not changed. Put back the file of {owner.code}, or restore that company from a "
            "backup."
        )
