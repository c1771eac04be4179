"""Finds companies that will soon be unable to add data, because of their quota or their share of a nearly full
disk.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.machine.disk import Disk, disk_of
from wmsd.contract.context import Company
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.dispatch.limits.disk_shares import Bound, Held
from wmsd.installation.open_installation import Installation
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.tenants.companies import store

WARN_FROM: Final = 0.8
WARN_UNTIL: Final = 0.75
"""The fill level below which a warning ends. It is lower than `WARN_FROM`, so that warnings do not come and go."""


class Filling(NamedTuple):
    """How close a company's storage is to a limit. `bound` is the limit: a quota or a share of the disk. `held` is
    the number of bytes that the company uses.
    """

    bound: Bound
    held: int
    way: float
    """The fill level. It begins at 0, and 1 means that the limit is reached.

    For a quota, it is the used part of the quota. A share of the disk limits a company only while the disk is
    nearly full. For a share, it is therefore the lower of two numbers: the used part of the share, and
    `Disk.fraction_to_shares`.
    """

    @property
    def percent(self) -> int:
        """The percentage of the limit that is used."""
        return self.held * 100 // max(1, self.bound.bytes)


class QuotaWatch:
    def __init__(self, installation: Installation, today: TodayFigures) -> None:
        self._installation = installation
        self._storage = installation.storage
        self._today = today
        self.near: Mapping[int, Filling] = {}
        """The fill level of each company that needs a warning, by the company's id."""

    async def look(self) -> None:
        """Measure the fill level of all companies. A job calls this method. If the disk cannot be read, do
        nothing, because another check reports this.
        """
        companies = await self._installation.access.companies()
        read = {each: figures.bytes for each, figures in self._today.known.items() if each in companies}
        try:
            disk, unread = await asyncio.to_thread(self._measured, companies.keys() - read.keys())
        except OSError:
            return
        held = read | unread
        if unnoted := {each: held[each] for each in held if companies[each].held_before is None}:
            await self._installation.platform.write(lambda tx: store.note_held_before(tx, unnoted))
        self._storage.held = Held(sum(held.values()), len(companies))
        self.near = dict(self._near(companies, held, disk))

    def _measured(self, unread: Iterable[int]) -> tuple[Disk, dict[int, int]]:
        """Return the state of the disk, and the file sizes in bytes of the companies in `unread`, by company id.
        `unread` are the companies without cached figures.
        """
        path = self._installation.files.path
        return disk_of(self._installation.folder.path), {each: bytes_on_disk(path(each)) for each in unread}

    def _near(
        self, companies: Mapping[int, Company], held: Mapping[int, int], disk: Disk
    ) -> list[tuple[int, Filling]]:
        found = [(each, self._filling(companies[each], held[each], disk)) for each in held]
        return [
            (each, filling)
            for each, filling in found
            if filling is not None and filling.way >= (WARN_UNTIL if each in self.near else WARN_FROM)
        ]

    def _filling(self, company: Company, held: int, disk: Disk) -> Filling | None:
        """Return the highest fill level of the company, for its quota or its share of the disk. Return None if it
        has no limit. `held` is the number of bytes that the company uses.
        """
        ways = []
        if (quota := self._storage.quota_of(company)) is not None:
            ways.append(Filling(quota, held, held / quota.bytes))
        if (share := self._storage.held.share_of(company, disk)) is not None:
            ways.append(Filling(share, held, min(held / max(1, share.bytes), disk.fraction_to_shares)))
        return max(ways, key=lambda each: each.way, default=None)
