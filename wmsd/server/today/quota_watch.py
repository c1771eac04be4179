"""Finds the companies that can soon add nothing more, by their quota or by their share of a disk that fills up."""

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

TOLD_FROM: Final = 0.8
TOLD_UNTIL: Final = 0.75
"""Whoever was told is told until then, so that one at the threshold does not come and go."""


class Filling(NamedTuple):
    """How far a company is on the way to where it can add nothing more."""

    bound: Bound
    held: int
    way: float
    """1: it is there. A share ends additions only once the disk is shared, so the shorter of both ways counts."""

    @property
    def percent(self) -> int:
        """Of what it may hold."""
        return self.held * 100 // max(1, self.bound.bytes)


class RoomWatch:
    def __init__(self, installation: Installation, today: TodayFigures) -> None:
        self._installation = installation
        self._storage = installation.storage
        self._today = today
        self.told: Mapping[int, Filling] = {}
        """Who is to be told, by the ids of the companies."""

    async def look(self) -> None:
        """A job calls it. That the disk cannot be read is told by its own watch."""
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
        self.told = dict(self._near(companies, held, disk))

    def _measured(self, unread: Iterable[int]) -> tuple[Disk, dict[int, int]]:
        """The disk, and the bytes of the files of companies whose figures were not read yet."""
        path = self._installation.files.path
        return disk_of(self._installation.folder.path), {each: bytes_on_disk(path(each)) for each in unread}

    def _near(
        self, companies: Mapping[int, Company], held: Mapping[int, int], disk: Disk
    ) -> list[tuple[int, Filling]]:
        found = [(each, self._filling(companies[each], held[each], disk)) for each in held]
        return [
            (each, filling)
            for each, filling in found
            if filling is not None and filling.way >= (TOLD_UNTIL if each in self.told else TOLD_FROM)
        ]

    def _filling(self, company: Company, held: int, disk: Disk) -> Filling | None:
        """By whichever of its bounds is nearer."""
        ways = []
        if (quota := self._storage.quota_of(company)) is not None:
            ways.append(Filling(quota, held, held / quota.bytes))
        if (share := self._storage.held.share_of(company, disk)) is not None:
            ways.append(Filling(share, held, min(held / max(1, share.bytes), disk.way_to_shares)))
        return max(ways, key=lambda each: each.way, default=None)
