"""Whose file a company's file is: it says so itself, so that no other company's is served in its place."""

from pathlib import Path
from typing import Final, NamedTuple

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction


class Owner(NamedTuple):
    """A company, as its file knows it. Only `code` is for people."""

    installation: str
    company_id: int
    code: str


FIND: Final = "SELECT installation, company_id, code FROM owner"
CLAIM: Final = """
    INSERT INTO owner (one, installation, company_id, code) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING
"""


def claim_file(connection: sqlite3.Connection, path: Path, owner: Owner) -> None:
    """Writes down whose file it is, in a file that does not say so yet: one that is new, or was made by a program
    without this. Raises WrongOwner.
    """
    if connection.execute(FIND).fetchone() is None:
        connection.execute(CLAIM, owner)
    check_owner(connection, path, owner)


def give_away(connection: sqlite3.Connection, owner: Owner) -> None:
    """Writes down a new owner, in a copy of a file that is to be another company's. Raises sqlite3.Error."""
    connection.execute("DELETE FROM owner")
    connection.execute(CLAIM, owner)


def check_owner(connection: sqlite3.Connection | Transaction, path: Path, owner: Owner) -> None:
    """Raises WrongOwner when the file is of another company, or of another installation. Raises sqlite3.Error."""
    row = connection.execute(FIND).fetchone()
    if row is None:
        return
    found = Owner(*row)
    if found.installation != owner.installation:
        raise WrongOwner(path, f"company {found.code} of another installation", owner)
    if found.company_id != owner.company_id:
        raise WrongOwner(path, f"company {found.code} (id {found.company_id})", owner)


class WrongOwner(StorageError):
    """A file stands where another company's belongs."""

    def __init__(self, path: Path, found: str, owner: Owner) -> None:
        super().__init__(
            f"{path} is the file of {found}, and {owner.code} (id {owner.company_id}) is expected there. "
            f"It was left as it is. Put back the file of {owner.code}, or restore that company from a backup."
        )
