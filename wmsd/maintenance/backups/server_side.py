"""The server's side of a backup: the server holds a snapshot of each file while a command copies the bytes.

So copying and compressing take no time of the server's process. The command needs no database connection to a file
that the server has locked. The command sends these verbs (see `lending.py`), for one snapshot at a time: `hold`,
`figures`, `copy_platform`, `release`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd import __version__
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan, Session, Verb
from wmsd.data_folder.new_epoch import Missing
from wmsd.db.engine.database import LOOK_AT_LOG_SECONDS, MOST_LOG_BYTES, Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import Extent, Snapshot
from wmsd.db.engine.sqlite import log_bytes
from wmsd.db.files.company_files import CompanyFiles
from wmsd.maintenance.backups.file_figures import read_figures
from wmsd.maintenance.backups.platform_copy import KeyRows, copy_platform

LOG = logging.getLogger("wmsd.backup")
LONG_SECONDS: Final = 600.0
HELD: Final = "held"


class Held(NamedTuple):
    state: Snapshot
    database: Database
    ends: AsyncExitStack


class ToPut(NamedTuple):
    """A command's request to put a file in place (see `put_company`)."""

    company_id: int
    file: str
    unpacked: str
    replaced: str
    as_of: str
    version: str = __version__


class Holder:
    def __init__(self, folder: DataFolder, platform: Database, files: CompanyFiles) -> None:
        self._folder = folder
        self._platform = platform
        self._files = files

    @property
    def verbs(self) -> Mapping[str, Verb]:
        return {
            "hold": self._hold,
            "figures": self._figures,
            "copy_platform": self._copy_platform,
            "release": self._release,
            "put_company": self._put_company,
            "end_company": self._end_company,
        }

    async def _hold(self, session: Session, company_id: Any) -> Extent:
        """Take a snapshot of a company's file. Keep it until `release` or until the end of the session.

        Return the extent of the snapshot: its file, and how many bytes of the file and of the log it covers.
        """
        if HELD in session.kept:
            await self._release(session, None)
        async with AsyncExitStack() as ends:
            database = await ends.enter_async_context(self._files.visiting(int(company_id)))
            state = await ends.enter_async_context(database.pinned())
            await ends.enter_async_context(_watched(state))
            session.kept[HELD] = Held(state, database, ends.pop_all())
        session.ends.push_async_callback(self._release, session, None)
        return state.extent

    async def _figures(self, session: Session, argument: Any) -> dict[str, Any]:
        held: Held = session.kept[HELD]
        figures = await held.database.read_pinned(held.state, read_figures)
        return figures.model_dump()

    async def _copy_platform(self, session: Session, path: Any) -> KeyRows | None:
        async with self._platform.pinned() as state, _watched(state):
            return await asyncio.to_thread(copy_platform, state, Path(path))

    async def _release(self, session: Session, argument: Any) -> bool:
        """Release the snapshot. Return False if the snapshot was already lost before this call, otherwise True."""
        held: Held | None = session.kept.pop(HELD, None)
        if held is None:
            return False
        was_held = held.state.is_held
        await held.ends.aclose()
        return was_held

    async def _end_company(self, session: Session, company_id: Any) -> None:
        """Close the file of a company that is being deleted. No request can open the file until the command ends
        its session.
        """
        file = self._files.file(int(company_id))
        await file.end()

        async def begin_again() -> None:
            file.begin_again()

        session.ends.push_async_callback(begin_again)

    async def _put_company(self, session: Session, argument: Any) -> dict[str, Any] | None:
        """Replace a company's file by an unpacked file from a backup. `argument` has the fields of `ToPut`.

        Return what the company wrote after the backup, as the fields of `Missing`. Return None if that is not
        known. Raise StorageError if the command has a different version than the server.
        """
        from wmsd.maintenance.backups.restore import put_company  # imported here: a start does not need it

        asked = ToPut(**argument)
        if asked.version != __version__:
            raise StorageError(
                f"The running server is wmsd {__version__}, but this command is wmsd {asked.version}. Use "
                "the same version for both."
            )
        file, mark = self._files.file(asked.company_id), self._files.marks.get(asked.company_id)
        put = partial(
            put_company, self._folder.path, asked.file, asked.unpacked, asked.replaced, asked.as_of, mark
        )
        missing = await file.replace(put)
        LOG.warning(
            "the file of company %d was restored; the previous file is in %s", asked.company_id, asked.replaced
        )
        return None if missing is None else missing._asdict()


@asynccontextmanager
async def _watched(state: Snapshot) -> AsyncIterator[None]:
    """During the `with` block, release the snapshot early if the write-ahead log of its file grows too long.

    SQLite cannot copy new pages from the log into the file while the snapshot is held.
    """

    async def watch() -> None:
        most = log_bytes(state.path) + MOST_LOG_BYTES
        while log_bytes(state.path) <= most:  # noqa: ASYNC110  (no event reports the growth of a log)
            await asyncio.sleep(LOOK_AT_LOG_SECONDS)
        await asyncio.to_thread(state.close)

    watching = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watching.cancel()


def put_company_file(folder: DataFolder, loan: Loan | None, asked: ToPut) -> Missing | None:
    """Replace a company's file by an unpacked file, for a command. Return what the company wrote after the backup,
    or None if that is not known.

    `loan` is the connection to the running server, which then replaces the file. If it is None, this function
    replaces the file, and no other process may use the folder. Raise StorageError, sqlite3.Error or OSError if
    that fails.
    """
    from wmsd.maintenance.backups.previous_installation import installation_before
    from wmsd.maintenance.backups.restore import put_company

    if loan is None:
        known = installation_before(folder)
        mark = None if known is None else known.marks.get(asked.company_id)
        return put_company(folder.path, asked.file, asked.unpacked, asked.replaced, asked.as_of, mark)
    said = loan.ask("put_company", asked._asdict(), LONG_SECONDS)
    return None if said is None else Missing(**said)
