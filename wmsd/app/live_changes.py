"""What has changed just now, for pages that are open: the companies to whose files something was written."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import Any, Final

from wmsd.base.context import Caller
from wmsd.base.fields import Id, Model
from wmsd.base.listing import Query, QueryPosition
from wmsd.base.operation import operation
from wmsd.db.company_files import CompanyFiles

MOST_NAMED: Final = 100
"""Companies in one answer. Beyond that, pages look by themselves."""


class LiveChanges:
    """Gives each round of changes a position. Positions begin with the process."""

    def __init__(self, files: CompanyFiles) -> None:
        self._written = files.watch()
        self._positions: OrderedDict[int, int] = OrderedDict()
        """The position of each company's last change; the last one stands at the end."""
        self.position = 0
        self.streams = 0
        """How many browsers listen."""
        self._told = asyncio.Event()
        self._ended = asyncio.Event()

    def tell(self) -> None:
        """Tells those who wait what was written since the last time. A job calls it each second."""
        if self._written:
            self.position += 1
            for company_id in self._written:
                self._positions[company_id] = self.position
                self._positions.move_to_end(company_id)
            self._written.clear()
            self._wake()

    @property
    def has_ended(self) -> bool:
        """Whether the service stops."""
        return self._ended.is_set()

    async def wait(self, after: int, seconds: float) -> None:
        """Until something has changed after this position, the service stops, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.position <= after and not self.has_ended:
                    await self._told.wait()

    async def pause(self, seconds: float) -> None:
        """For so long, or until the service stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    def since(self, after: int) -> list[int]:
        """The companies that changed after this position, the last one first."""
        found = list[int]()
        for company_id, position in reversed(self._positions.items()):
            if position <= after:
                break
            found.append(company_id)
        return found

    def end(self) -> None:
        """Nobody waits any more: the service stops."""
        self._ended.set()
        self._wake()

    def _wake(self) -> None:
        self._told.set()
        self._told = asyncio.Event()


class ChangesQuery(Query):
    after: QueryPosition


class Changes(Model):
    """`many`: more companies than are named."""

    position: int
    companies: list[Id]
    many: bool


@operation(tag="Sessions", answer="object", returns=Changes, scope="platform")
async def list_changes(service: LiveChanges, query: ChangesQuery, caller: Caller) -> dict[str, Any]:
    """List the companies of somebody that have changed after a position."""
    found = [each for each in service.since(query.after) if caller.may_use(each)]
    return {"position": service.position, "companies": found[:MOST_NAMED], "many": len(found) > MOST_NAMED}
