"""Asks a running server for its metrics, over the socket in the data folder (`lending.py`)."""

from typing import TYPE_CHECKING, Any, Final

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Session, Verb, ask_server
from wmsd.db.engine.failures import StorageError

if TYPE_CHECKING:  # the command does not need the first import, and the server does not need the second
    from wmsd.server.figures.live import LiveFigures
    from wmsd.server.figures.schema import ServerFigures

FIGURES: Final = "server_figures"
"""The name of the request for the server's metrics. The request "figures" is different: a backup uses it to get
the figures of one company.
"""


def figures_verb(figures: "LiveFigures") -> Verb:
    """Return the function with which the server answers the request `FIGURES`."""

    async def answer(session: Session, argument: Any) -> dict[str, Any]:
        return (await figures.read()).model_dump()

    return answer


def figures_of(folder: DataFolder) -> "ServerFigures | None":
    """Return the metrics of the running server, or None if no server answers.

    A server does not answer if it hangs, has another version, or has no socket for commands.
    """
    from pydantic import ValidationError

    from wmsd.server.figures.schema import ServerFigures

    try:
        said = ask_server(folder, FIGURES)
        return None if said is None else ServerFigures.model_validate(said)
    except (StorageError, ValidationError):
        return None
