"""Counts each company's requests in memory, and adds the counts to `platform.db` once a minute."""

import asyncio
from collections import Counter
from typing import Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Requests:
    """The number of a company's requests. `since` is the time of the first counted request, or None if there was
    no request.
    """

    count: int = 0
    since: str | None = None


class RequestCounts:
    def __init__(self, platform: Database, clock: Clock) -> None:
        self._platform = platform
        self._clock = clock
        self._unwritten: Counter[int] = Counter()
        self._since: dict[int, str] = {}
        """The time of each company's first request since the server started, by company id. The time is written
        together with the company's first count. If the table already has a time for the company, that time stays.
        """
        self._moving = asyncio.Lock()
        """Locked while counts are moved to the table, so that `read` includes each count exactly once."""

    def note(self, company_id: int) -> None:
        if company_id not in self._since:
            self._since[company_id] = timestamps.to_text(self._clock.now())
        self._unwritten[company_id] += 1

    async def write(self) -> None:
        """Write the counts to `platform.db`. The write continues even if the caller is cancelled, so that no count
        is written twice.
        """
        await asyncio.shield(self._write())

    async def _write(self) -> None:
        async with self._moving:
            rows = [(each, count, self._since[each]) for each, count in self._unwritten.items() if count]
            if not rows:
                return
            await self._platform.write(lambda tx: _add(tx, rows), is_quiet=True)
            self._unwritten.subtract({company_id: count for company_id, count, _ in rows})

    async def read(self) -> dict[int, Requests]:
        """Return the counts by company id, including the counts that are not written yet."""
        async with self._moving:
            counted = await self._platform.read(_counted)
            for company_id, count in self._unwritten.items():
                before = counted.get(company_id, Requests())
                since = before.since or self._since[company_id]
                counted[company_id] = Requests(before.count + count, since)
        return counted


ADD: Final = """
    INSERT INTO request_counts (company_id, requests, since) VALUES (?, ?, ?)
    ON CONFLICT (company_id) DO UPDATE SET requests = requests + excluded.requests
"""
COUNTED: Final = "SELECT company_id, requests, since FROM request_counts"


def _add(tx: Transaction, rows: list[tuple[int, int, str]]) -> None:
    tx.executemany(ADD, rows)


def _counted(tx: Transaction) -> dict[int, Requests]:
    return {company_id: Requests(count, since) for company_id, count, since in tx.rows(COUNTED)}
