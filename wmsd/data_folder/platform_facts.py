"""Facts from platform.db about the installation, for a command that runs alone or next to a server."""

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
    """Return the function that answers requests for the id of the installation, by the verb of these requests. The
    server passes the function to `Lending`.
    """

    async def answer(session: Session, argument: Any) -> str:
        return await platform.read(companies.installation)

    return {INSTALLATION: answer}


def installation_of(folder: DataFolder) -> str | None:
    """Return the id of the installation, from the server that uses the folder or from the file.

    Return None if neither gives the id. The server keeps its files open.
    """
    try:
        found = ask_server(folder, INSTALLATION)
    except StorageError:
        return None
    return read_platform(folder, companies.installation) if found is None else str(found)


def damage_of(folder: DataFolder) -> str | None:
    """Return the damage that SQLite finds in platform.db. Return None if the file is intact or missing.

    Call this only while no server uses the file: a file that is locked would count as damaged.
    """
    if not folder.platform_file.exists():
        return None
    try:
        found = read_state(folder.platform_file, lambda tx: tx.text(QUICK_CHECK))
    except (StorageError, sqlite3.Error) as error:
        found = str(error)
    return None if found == "ok" else " ".join(found.split())


def read_platform(folder: DataFolder, action: Callable[[Transaction], Result]) -> Result | None:
    """Return the action's result, or None if the file cannot be read or a server uses it."""
    if not folder.platform_file.exists():
        return None
    try:
        return read_state(folder.platform_file, action)
    except (StorageError, sqlite3.Error):
        return None
