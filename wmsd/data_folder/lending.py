"""Lets the server lend its files to commands that run at the same time.

Processes that use the same SQLite file share the index of its write-ahead log. This index is a file that each
process maps into its memory. If the index file is truncated, all these processes crash. This happens, for example,
if a person copies a backup over the files of a running server. Therefore the server locks its database files, and
keeps the index in its own memory. No other process can open, lock or truncate these files.

A command that needs a file sends a request over a socket in the data folder. The server then shares the file with
the command in the usual way, until the command ends.

A command can also send requests of other kinds over this socket, such as a request for a snapshot to copy
(`maintenance/backups/server_side.py`). A request is a line of JSON, `{verb: argument}`. The answer is `{"answer":
...}`, or `{"error": sentence}`.
"""

import asyncio
import fcntl
import json
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from wmsd import __version__
from wmsd.base.dataclass import dataclass
from wmsd.base.machine import scratch_folders
from wmsd.base.machine.descriptors import short_path
from wmsd.base.problems import Problem
from wmsd.data_folder.folder import LOCK, DataFolder, Serving
from wmsd.data_folder.messages import as_storage_error
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.db.files.company_file import Borrow
from wmsd.db.files.company_files import CompanyFiles

LOG = logging.getLogger("wmsd.data")
SOCKET: Final = "server.socket"
LEND: Final = "lend"
LONGEST_LINE: Final = 5000
ANSWER_SECONDS: Final = 60.0
"""How many seconds a command waits for a file. The server first finishes its work in the file."""
QUESTION_SECONDS: Final = 5.0
"""How long a command waits for an answer that needs no file."""
START_SECONDS: Final = 15.0
"""How long a command waits for a server that starts or stops."""
AGAIN_SECONDS: Final = 0.05


def listener(folder: DataFolder) -> socket.socket | None:
    """Return the socket for `Lending`, or None if it cannot be created. Then the server cannot lend files.

    Some disks, such as most memory sticks, allow no sockets.
    """
    path = folder.path / SOCKET
    made = socket.socket(socket.AF_UNIX)
    try:
        path.unlink(missing_ok=True)
        with short_path(folder.path) as short:
            made.bind(f"{short}/{SOCKET}")
        path.chmod(0o600)
    except OSError as error:
        made.close()
        LOG.warning(
            "%s cannot be created (%s), so the server does not lock its files: other programs can open them",
            path,
            error.strerror,
        )
        return None
    return made


@dataclass(frozen=True, slots=True)
class Session:
    """The connection of one command, on the side of the server.

    `ends` contains everything that the server holds for the command, such as lent files. The server releases all
    of this when the connection ends. In `kept`, a request can store objects by name for later requests of the
    command.
    """

    ends: AsyncExitStack
    kept: dict[str, Any] = field(default_factory=dict)


Verb = Callable[[Session, Any], Awaitable[Any]]
"""A function that answers one kind of request. Its parameters are the session and the argument of the request. It
returns a value for JSON. It raises ValueError if the argument cannot come from a wmsd command.
"""


class Lending:
    """The server's side of lending: it answers the requests of commands. A lent file is shared until the
    connection of the command ends.
    """

    def __init__(
        self, folder: DataFolder, platform: Database, files: CompanyFiles, verbs: Mapping[str, Verb]
    ) -> None:
        self._folder = folder
        self._platform = platform
        self._files = files
        self._verbs = {LEND: self._lend, **verbs}
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[None]] = set()

    async def start(self, listener: socket.socket) -> None:
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=LONGEST_LINE)

    async def stop(self) -> None:
        """End the connections of all commands, so that no file is lent any more. The server calls this before it
        closes its files.
        """
        if self._server is not None:
            self._server.close()
            (self._folder.path / SOCKET).unlink(missing_ok=True)
        for session in self._sessions:
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.ensure_future(self._answer_all(reader, writer))
        self._sessions.add(session)
        session.add_done_callback(self._sessions.discard)
        with suppress(asyncio.CancelledError):
            await asyncio.shield(session)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with AsyncExitStack() as ends:
            ends.callback(writer.close)
            session = Session(ends)
            try:
                while line := await reader.readline():
                    [(verb, argument)] = json.loads(line).items()
                    writer.write(json.dumps(await self._answer(session, verb, argument)).encode() + b"\n")
                    await writer.drain()
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                pass  # the command has ended, or is not a wmsd command
            except Exception:
                LOG.exception("this server could not answer a command, because of an internal error")

    async def _answer(self, session: Session, verb: str, argument: Any) -> dict[str, Any]:
        try:
            return {"answer": await self._verbs[verb](session, argument)}
        except StorageError as error:
            return {"error": " ".join(str(error).split())}
        except STORAGE_FAILURES as error:
            return {"error": str(as_storage_error(error))}
        except Problem as problem:
            return {"error": problem.message}

    async def _lend(self, session: Session, name: Any) -> None:
        """Lend the file with this name until the connection ends."""
        if name == self._folder.platform_file.name:
            lend, take_back = self._platform.lend, self._platform.take_back
        else:
            company_id = int(str(name).removeprefix("companies/").removesuffix(".db"))
            if not self._files.path(company_id).exists():
                raise StorageError(f"{self._files.path(company_id)} is missing. Restore it from a backup.")
            file = self._files.file(company_id)
            await file.can_be_used()  # a command migrates nothing, and checks damaged files too
            lend, take_back = file.lend, file.take_back
        session.ends.push_async_callback(take_back)
        await lend()


class Loan:
    """The command's side of lending: a connection over which a command sends requests to the server."""

    def __init__(self, folder: DataFolder, connection: socket.socket) -> None:
        self._folder = folder
        self._connection = connection
        self._answers = connection.makefile("rb")

    def ask(self, verb: str, argument: Any = None, seconds: float = ANSWER_SECONDS) -> Any:
        """Send a request to the server, and return its answer.

        Raise StorageError with the server's sentence if the server refuses. Raise Unanswered if there is no
        answer.
        """
        try:
            self._connection.settimeout(seconds)
            self._connection.sendall(json.dumps({verb: argument}).encode() + b"\n")
            said = json.loads(self._answers.readline())
        except (OSError, ValueError):
            raise Unanswered from None
        if "error" in said:
            raise StorageError(said["error"])
        return said["answer"]

    def borrow(self, path: Path) -> None:
        """Ask the server to share a file with this command until `close`. Raise StorageError if that fails."""
        try:
            self.ask(LEND, str(path.relative_to(self._folder.path)))
        except Unanswered:
            raise StorageError(
                f"The running server did not give this command access to {path}. If the server was just "
                "stopped, try again; otherwise its log says why."
            ) from None

    def close(self) -> None:
        self._answers.close()
        self._connection.close()


class Unanswered(StorageError):
    """The error if the server does not answer: it has stopped, or its version does not know the request."""

    def __init__(self) -> None:
        super().__init__(
            "The server did not answer. If it was just stopped, try again; otherwise its log says why."
        )


@contextmanager
def beside_a_server(folder: DataFolder) -> Iterator[Loan | None]:
    """Yield a connection to the server that uses the folder. With it, a command can use the server's files.

    Yield None if no server is running. Then no server can start while this context is open. Also yield None if the
    server does not lend files. Then every process can open the files.

    Raise StorageError if the server does not answer. Also raise it if the command and the server have different
    versions, because their files may have different formats.
    """
    until = time.monotonic() + START_SECONDS
    while True:
        if folder.share():
            try:
                yield None
            finally:
                folder.unlock()
            return
        connection = _connected(folder)
        server = folder.server()
        if connection is not None or (server is not None and not server.lends):
            _check_version(server)
        if connection is not None:
            break
        if server is not None and not server.lends:
            yield None
            return
        if time.monotonic() > until:
            raise StorageError(f"The server that uses the data folder {folder.path} does not answer. Try again.")
        time.sleep(AGAIN_SECONDS)
    with closing(Loan(folder, connection)) as loan, folder.borrowing():
        yield loan


@contextmanager
def read_only_view(folder: DataFolder) -> Iterator[Borrow | None]:
    """Yield a function that asks the running server to lend a file. Yield None if files can be opened without
    asking.

    Write nothing to the folder, because it may be a copy on a read-only disk. Create no lock file if there is
    none. If there is a lock file and no server is running, no server can start while this context is open. Raise
    StorageError if the running server cannot be used.
    """
    with ExitStack() as held:
        is_free = True
        with suppress(OSError):  # there is no lock, or it is another user's
            is_free = held.enter_context(scratch_folders.unused(folder.path / LOCK, fcntl.LOCK_SH))
        if is_free:
            yield None
            return
    with beside_a_server(folder) as loan:
        if loan is not None:
            loan.borrow(folder.platform_file)
        yield None if loan is None else loan.borrow


def ask_server(folder: DataFolder, verb: str) -> Any:
    """Send a request to the server that uses the folder, and return the answer. Return None if there is no such
    server.

    Unlike `beside_a_server`, this function does not wait for a server that is starting. It does not keep a server
    from starting, and no file is lent. Raise StorageError if the server refuses, or does not answer within
    `QUESTION_SECONDS`.
    """
    connection = _connected(folder, QUESTION_SECONDS)
    if connection is None:
        return None
    with closing(Loan(folder, connection)) as loan:
        return loan.ask(verb, seconds=QUESTION_SECONDS)


def _check_version(server: Serving | None) -> None:
    if server is not None and server.version != __version__:
        raise StorageError(
            f"The running server is wmsd {server.version or 'of an older version'}, but this command is wmsd "
            f"{__version__}. Nothing was changed. Use the program of the server, or stop the server first."
        )


def _connected(folder: DataFolder, seconds: float = ANSWER_SECONDS) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(seconds)
    try:
        with short_path(folder.path) as short:
            connection.connect(f"{short}/{SOCKET}")
    except OSError:
        connection.close()
        return None
    return connection
