"""Finds the problems about which a person must be alerted.

The checks use data that the server already has. They open no company's file, except a file that could not be used
before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.machine.disk import MEBIBYTE, Level, disk_of
from wmsd.base.problems import Problem
from wmsd.data_folder.clock_watch import ClockWatch
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.dispatch.limits.growth_limits import MEGABYTE
from wmsd.host.tls.verdict import judged_by_time
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.server.alerts import kinds
from wmsd.server.alerts.alerts_file import OpenAlert, Rise
from wmsd.server.alerts.disk_watch import DiskWatch
from wmsd.server.alerts.kinds import OF_CERTIFICATE, AlertKind
from wmsd.server.alerts.rules import Trouble, is_rising, risen
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.server.today.quota_watch import QuotaWatch
from wmsd.tenants.accounts import ending_tokens
from wmsd.tenants.companies import store as companies
from wmsd.tenants.recovery import store as recovery

if TYPE_CHECKING:
    from wmsd.maintenance.replica.replica_verdict import Verdict

BEHIND_SECONDS: Final = 120.0
"""How many seconds a replica must be behind before an alert begins. A shorter delay is normal at the start and
after a large import.
"""
CANNOT_BE_WRITTEN: Final = "The file cannot be written now."


@dataclass(frozen=True, slots=True)
class Found:
    """The problems that a check has found.

    `unknown` has the kinds of alerts that could not be checked this time. `rises` has the counts of webhook
    deliveries whose last attempt has failed, by company id. The next check compares its own counts with them.
    """

    troubles: list[Trouble]
    unknown: set[str]
    rises: dict[int, Rise]

    def add(self, kind: AlertKind, facts: Mapping[str, object], subject: str = "") -> None:
        self.troubles.append(Trouble(kind.name, subject, {name: str(fact) for name, fact in facts.items()}))


class Looks:
    def __init__(
        self,
        installation: Installation,
        disk: DiskWatch,
        rooms: QuotaWatch,
        clock: ClockWatch,
        today: TodayFigures,
        backups: ScheduledBackups | None,
    ) -> None:
        self._installation = installation
        self._disk = disk
        self._rooms = rooms
        self._clock = clock
        self._today = today
        self._backups = backups
        self._behind_since: float | None = None
        """The time on the monotonic clock since which the replica has been behind. None if it is not behind."""

    async def look(self, open_alerts: Sequence[OpenAlert], rises: Mapping[int, Rise]) -> Found:
        """Check for problems. `open_alerts` are the alerts that are open now. `rises` has the counts of failed
        webhook deliveries from the previous check, by company id.
        """
        were_down = {
            int(each.subject)
            for each in open_alerts
            if each.kind == kinds.COMPANY_DOWN.name and each.subject.isdecimal()
        }
        is_told = any(each.kind == kinds.REPLICA.name for each in open_alerts)
        found = Found([], set(), dict(rises))
        groups: tuple[tuple[tuple[AlertKind, ...], Callable[[Found], Awaitable[None]]], ...] = (
            ((kinds.DISK_FILLS, kinds.DISK_FULL), self._disks),
            ((kinds.PLATFORM_DOWN,), self._platform),
            ((kinds.BACKUP,), self._of_backups),
            ((kinds.RECOVERY,), self._recovery),
            ((kinds.REPLICA,), partial(self._of_replica, is_told)),
            ((kinds.COMPANY_DOWN, kinds.GIVEN_UP), partial(self._of_companies, were_down)),
            ((kinds.COMPANY_FILLS,), self._of_rooms),
        )
        by_time = (((kinds.TOKEN_ENDS,), self._tokens), ((*OF_CERTIFICATE.values(),), self._certificate))
        if self._clock.is_steady():
            groups += by_time
        else:  # a wrong clock could make tokens and certificates look expired
            found.unknown.update(each.name for group, _ in by_time for each in group)
        for group, look in groups:
            try:
                await look(found)
            except (OSError, *STORAGE_FAILURES):
                found.unknown.update(each.name for each in group)
        return found

    async def _disks(self, found: Found) -> None:
        """Check the free space of the disk.

        Use the level of `DiskWatch`, because it does not change back and forth when the free space is near a
        threshold.
        """
        if self._disk.level is Level.GOOD:
            return
        disk = await asyncio.to_thread(disk_of, self._installation.folder.path)
        facts = {"free": disk.free // MEBIBYTE, "percent": disk.percent}
        found.add(kinds.DISK_FILLS, facts)
        if self._disk.level is Level.REFUSED:
            found.add(kinds.DISK_FULL, facts)

    async def _platform(self, found: Found) -> None:
        try:
            await self._installation.platform.read(companies.count)
        except STORAGE_FAILURES as error:
            found.add(kinds.PLATFORM_DOWN, {"why": " ".join(str(error).split())})

    async def _of_backups(self, found: Found) -> None:
        if self._backups is None:
            return
        judged = (await self._backups.seen()).verdict
        if not judged.ok:
            found.add(kinds.BACKUP, {"why": judged.sentence.rstrip(".")})

    async def _recovery(self, found: Found) -> None:
        if number := await self._installation.platform.read(recovery.open_count):
            found.add(kinds.RECOVERY, {"number": number})

    async def _of_replica(self, is_told: bool, found: Found) -> None:
        judged = await verdict_of_replica(self._installation)
        if judged is None:
            return
        now = self._installation.clock.monotonic()
        self._behind_since = None if judged.ok else self._behind_since or now
        if self._behind_since is not None and (is_told or now >= self._behind_since + BEHIND_SECONDS):
            found.add(kinds.REPLICA, {"why": judged.sentence.rstrip(".")})

    async def _of_companies(self, were_down: AbstractSet[int], found: Found) -> None:
        known = await self._installation.access.companies()
        codes = {company_id: company.code for company_id, company in known.items()}
        await self._try_again(were_down & codes.keys())
        files = self._installation.files
        down = {**dict.fromkeys(files.read_only, CANNOT_BE_WRITTEN), **files.troubled}
        for company_id, why in down.items():
            if company_id in codes:
                found.add(kinds.COMPANY_DOWN, {"company": codes[company_id], "why": why}, str(company_id))
        self._given_up(found, codes)

    async def _try_again(self, were_down: AbstractSet[int]) -> None:
        """Open the companies' files about which an alert is open. Skip files whose failure the server already
        knows.

        After a restart, the server notices that a file is damaged only when it opens the file. Without this
        method, the alert would end although the file is still damaged.
        """
        for company_id in were_down:
            if company_id not in self._installation.files.failed:
                with suppress(Problem):
                    await self._installation.files.get(company_id)

    def _given_up(self, found: Found, codes: Mapping[int, str]) -> None:
        now = self._installation.clock.now()
        counts = {company_id: each.given_up for company_id, each in self._today.known.items()}
        rises = risen(found.rises, counts, codes, now)
        found.rises.clear()
        found.rises.update(rises)
        for company_id, rise in rises.items():
            if is_rising(rise, now):
                facts = {"company": codes[company_id], "number": rise.count}
                found.add(kinds.GIVEN_UP, facts, str(company_id))

    async def _of_rooms(self, found: Found) -> None:
        known = await self._installation.access.companies()
        for company_id, filling in self._rooms.near.items():
            if company_id in known:
                held, bound = filling.held // MEGABYTE, filling.bound.bytes // MEGABYTE
                facts = {"held": held, "bound": bound, "company": known[company_id].code}
                found.add(kinds.COMPANY_FILLS, facts, str(company_id))

    async def _tokens(self, found: Found) -> None:
        for token in await self._installation.platform.read(ending_tokens.for_alerts):
            at = timestamps.from_text(token["expires_at"])
            facts = {"token": token["id"], "name": token["name"], "user": token["user"]}
            facts["expires_at"] = f"{at:%Y-%m-%d %H:%M} UTC"
            found.add(kinds.TOKEN_ENDS, facts, str(token["id"]))

    async def _certificate(self, found: Found) -> None:
        server, data = self._installation.settings.server, self._installation.folder.path
        judged = await asyncio.to_thread(lambda: [*judged_by_time(server, data, self._installation.clock.now())])
        for each in judged:
            found.add(OF_CERTIFICATE[each.kind.name], each.facts)


async def verdict_of_replica(installation: Installation) -> "Verdict | None":
    """Return whether the replica is complete, with a sentence. Return None if the installation has no replica."""
    if not installation.settings.replica.enabled:
        return None
    from wmsd.maintenance.replica.replica_verdict import replica_verdict  # imported here: most have no replica

    return await asyncio.to_thread(replica_verdict, installation.folder)
