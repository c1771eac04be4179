"""The companies whose files were written recently. Open pages wait for such changes, to reload themselves."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from wmsd.contract.context import Caller
from wmsd.contract.fields import Id, Model
from wmsd.contract.list_queries import Query, QueryPosition
from wmsd.contract.operation import operation
from wmsd.db.files.company_files import CompanyFiles

MOST_NAMED: Final = 100
"""The most companies in one answer. If more companies have changed, every open page reloads."""


class Listener:
    """A browser that waits for changes.

    `at_once` is set when the browser must check immediately, because its session has ended or the server stops.
    """

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id
        self.at_once = asyncio.Event()


class LiveChanges:
    """Knows which companies have changed since a position, and wakes the browsers that wait for changes.

    A position is a number. It is 0 when the process starts, and grows by 1 each time `tell` finds changes.
    """

    def __init__(self, files: CompanyFiles) -> None:
        self._written = files.watch()
        self._positions: OrderedDict[int, int] = OrderedDict()
        """For each company id, the position of the company's last change. The latest change comes last."""
        self.position = 0
        self._listeners = set[Listener]()
        self._told = asyncio.Event()
        self.has_ended = False
        """True once the server stops."""

    def tell(self) -> None:
        """Wake the waiting listeners if any file was written since the last call. A job calls this method every
        second.
        """
        if self._written:
            self.position += 1
            for company_id in self._written:
                self._positions[company_id] = self.position
                self._positions.move_to_end(company_id)
            self._written.clear()
            self._wake()

    @contextmanager
    def listening(self, session_id: int) -> Iterator[Listener]:
        """Register a browser with this session as a listener for the duration of the context."""
        listener = Listener(session_id)
        self._listeners.add(listener)
        if self.has_ended:
            listener.at_once.set()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    @property
    def streams(self) -> int:
        """The number of browsers that listen."""
        return len(self._listeners)

    @property
    def sessions(self) -> set[int]:
        """The ids of the sessions that listen."""
        return {listener.session_id for listener in self._listeners}

    async def wait(self, listener: Listener, after: int, seconds: float) -> None:
        """Wait until a change after the position `after`, or until the time is over.

        The wait also ends when the listener must check immediately.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.position <= after and not listener.at_once.is_set():
                    await self._told.wait()

    async def pause(self, listener: Listener, seconds: float) -> None:
        """Wait `seconds`. Stop waiting earlier if the listener must check immediately."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await listener.at_once.wait()

    def since(self, after: int) -> list[int]:
        """Return the ids of the companies that changed after this position, the latest change first."""
        found = list[int]()
        for company_id, position in reversed(self._positions.items()):
            if position <= after:
                break
            found.append(company_id)
        return found

    def end(self) -> None:
        """Wake all listeners, and let no listener wait again, because the server stops."""
        self.has_ended = True
        self._end(self._listeners)

    def end_sessions(self, ended: Collection[int]) -> None:
        """Make the listeners of these sessions check immediately, so that pages learn that the session is over."""
        self._end([each for each in self._listeners if each.session_id in ended])

    def _end(self, listeners: Collection[Listener]) -> None:
        for each in listeners:
            each.at_once.set()
        self._wake()

    def _wake(self) -> None:
        self._told.set()
        self._told = asyncio.Event()


class ChangesQuery(Query):
    after: QueryPosition


class Changes(Model):
    """The companies that have changed. `position` is the position of the latest change: send it as `after` to get
    later changes. `many` is true if some changed companies are not in the list.
    """

    position: int
    companies: list[Id]
    many: bool


@operation(tag="Sessions", answer="object", returns=Changes, scope="platform")
async def list_changes(service: LiveChanges, query: ChangesQuery, caller: Caller) -> dict[str, Any]:
    """List changed companies.

    The answer lists those companies of the caller that have changed after a position.
    """
    found = [each for each in service.since(query.after) if caller.may_use(each)]
    return {"position": service.position, "companies": found[:MOST_NAMED], "many": len(found) > MOST_NAMED}
