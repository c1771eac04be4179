"""What platform.db says of the installation, for a command that stands beside its server, or alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Session, Verb, ask_server
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.held_states import read_state
from wmsd.db.engine.sqlite import QUICK_CHECK, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies

if TYPE_CHECKING:  # the command needs nothing of it
    from wmsd.db.engine.database import Database

INSTALLATION: Final = "installation"
Result = TypeVar("Result")


def installation_verbs(platform: "Database") -> dict[str, Verb]:
    """The server's side."""

    async def answer(session: Session, argument: Any) -> str:
        return await platform.read(companies.installation)

    return {INSTALLATION: answer}


def installation_of(folder: DataFolder) -> str | None:
    """The id, of the file or of the server that has it. None where neither tells. Nothing is borrowed for it."""
    try:
        found = ask_server(folder, INSTALLATION)
    except StorageError:
        return None
    return read_platform(folder, companies.installation) if found is None else str(found)


def damage_of(folder: DataFolder) -> str | None:
    """What SQLite finds wrong with the file, where no server has it. None where it is whole, or is not there."""
    if not folder.platform_file.exists():
        return None
    try:
        found = read_state(folder.platform_file, lambda tx: tx.text(QUICK_CHECK))
    except (StorageError, sqlite3.Error) as error:
        found = str(error)
    return None if found == "ok" else " ".join(found.split())


def read_platform(folder: DataFolder, action: Callable[[Transaction], Result]) -> Result | None:
    """None where the file cannot be read, or a server has it."""
    if not folder.platform_file.exists():
        return None
    try:
        return read_state(folder.platform_file, action)
    except (StorageError, sqlite3.Error):
        return None
