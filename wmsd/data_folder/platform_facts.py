"""Reads facts from platform.db, such as the installation's id, for a command. A server may be running or not."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Session, Verb, ask_server
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import read_state
from wmsd.db.engine.sqlite import QUICK_CHECK, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies

if TYPE_CHECKING:  # the command does not need the import at run time
    from wmsd.db.engine.database import Database

INSTALLATION: Final = "installation"
Result = TypeVar("Result")


def installation_verbs(platform: "Database") -> dict[str, Verb]:
    """Return a dict with one function, which returns the installation's id. The key is the verb with which a
    command asks for the id. The server passes this dict to `Lending`.
    """

    async def answer(session: Session, argument: Any) -> str:
        return await platform.read(companies.installation)

    return {INSTALLATION: answer}


def installation_of(folder: DataFolder) -> str | None:
    """Return the id of the installation, or None if it cannot be read.

    Ask the server that uses the folder. If there is no server, read the id from platform.db.
    """
    try:
        found = ask_server(folder, INSTALLATION)
    except StorageError:
        return None
    return read_platform(folder, companies.installation) if found is None else str(found)


def damage_of(folder: DataFolder) -> str | None:
    """Return the damage that SQLite finds in platform.db. Return None if the file is intact or missing.

    Call this only while no server uses the file. A file that a server has locked would be reported as damaged.
    """
    if not folder.platform_file.exists():
        return None
    try:
        found = read_state(folder.platform_file, lambda tx: tx.text(QUICK_CHECK))
    except (StorageError, sqlite3.Error) as error:
        found = str(error)
    return None if found == "ok" else " ".join(found.split())


def read_platform(folder: DataFolder, action: Callable[[Transaction], Result]) -> Result | None:
    """Run the action on platform.db and return its result. Return None if the file is missing, cannot be read, or
    is locked by a server.
    """
    if not folder.platform_file.exists():
        return None
    try:
        return read_state(folder.platform_file, action)
    except (StorageError, sqlite3.Error):
        return None
