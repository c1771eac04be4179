"""Looks into a company's file, and loads what is due of each subscription, as much as can soon be sent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

from wmsd.base.complaints import Complaints
from wmsd.base.context import Company
from wmsd.base.vault import Vault
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.failures import STORAGE_FAILURES
from wmsd.db.transaction import Transaction
from wmsd.webhooks import deliveries, store, switch_off
from wmsd.webhooks.deliveries import DueNow, Look, Target
from wmsd.webhooks.feed import Feed
from wmsd.webhooks.lookout import LONGEST_SECONDS, Companies
from wmsd.webhooks.rules import MOST_SUBSCRIPTIONS, off_because
from wmsd.webhooks.switch_off import SwitchedOff
from wmsd.webhooks.tasks import Tasks

LOG = logging.getLogger("wmsd.webhooks")

AT_THE_NEXT_TICK: Final = 0
"""Milliseconds since 1970."""
AHEAD: Final = 16
"""A load is so many times what may be under way: each costs about what fifty deliveries in it do."""

LARGEST_LOAD: Final = 262_144
LARGEST_OF_COMPANY: Final = 16_777_216
"""Characters of bodies that are ready, of a subscription and of a company; beyond it each has one at a time."""

Audit = Callable[[str, str], Awaitable[None]]
"""Writes down that the service did this to that."""


class Seen(NamedTuple):
    """What is due when, what is switched off, and where that is to go now which is ready to be sent.

    `known` are the subscriptions that there are, where so many were deleted that they are to be forgotten.
    """

    look: Look
    switched_off: list[SwitchedOff]
    targets: list[Target]
    known: set[int] | None


class Loader:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        audit: Audit,
        vault: Vault,
        tasks: Tasks,
        loaded: Callable[[Feed], None],
        failed: Callable[[int], None],
    ) -> None:
        """`loaded` is told of each feed that was loaded, `failed` of each company where that was impossible."""
        self._files = files
        self._companies = companies
        self._audit = audit
        self._vault = vault
        self._tasks = tasks
        self._loaded = loaded
        self._failed = failed
        self._feeds: dict[int, dict[int, Feed]] = {}
        """By company and subscription."""
        self._switched_off: dict[int, int] = {}
        self._complaints = Complaints(LOG, STORAGE_FAILURES)

    @property
    def switched_off(self) -> int:
        """How many subscriptions the service itself has switched off."""
        return sum(self._switched_off.values())

    def feed(self, company_id: int, subscription_id: int) -> Feed | None:
        return self._feeds.get(company_id, {}).get(subscription_id)

    # --- looking ------------------------------------------------------------------------------------------------

    async def look(self, company_id: int, is_to_clamp: bool) -> int | None:
        """As `lookout.Look`."""
        company = (await self._companies()).get(company_id)
        if company is None:
            return None
        database = await self._files.get(company_id)
        feeds = self._feeds.setdefault(company_id, {})
        if is_to_clamp:
            await database.write(deliveries.clamp)
        ready = [subscription_id for subscription_id, feed in feeds.items() if feed.ready]
        seen = await database.read(partial(_see, ready=ready, is_crowded=len(feeds) > MOST_SUBSCRIPTIONS))
        _forget_deleted(feeds, seen.known)
        for target in seen.targets:
            feeds[target.subscription_id].take(target, (), self._vault)
        because = off_because(company)
        is_more_to_skip = False
        if because is None:
            self._fill_all(company_id, feeds, seen.look.due_now)
        else:
            for feed in feeds.values():
                feed.drop()
            is_more_to_skip = bool(seen.look.due_now) and await _skip_some(database, because)
        await self._tell_switched_off(company, database, seen.switched_off)
        return AT_THE_NEXT_TICK if is_more_to_skip else seen.look.next_due

    def _fill_all(self, company_id: int, feeds: dict[int, Feed], due_now: list[int]) -> None:
        for subscription_id in feeds.keys() - set(due_now):
            feeds[subscription_id].drop()  # switched off or deleted, or the clock was set back
        for subscription_id in due_now:
            feed = feeds.setdefault(subscription_id, Feed(company_id, subscription_id))
            feed.may_have_more = True
            self.fill(feed)

    async def _tell_switched_off(self, company: Company, database: Database, found: list[SwitchedOff]) -> None:
        self._switched_off[company.id] = len(found)
        new = [each for each in found if not each.is_audited]
        for each in new:
            await self._audit(f"webhook.switch_off {each.because}", f"{company.code} {each.name}")
            LOG.warning("webhook %s of %s is switched off: %s", each.name, company.code, each.because)
        if new:
            await database.write(lambda tx: switch_off.note_audited(tx, [each.id for each in new]))

    # --- loading ------------------------------------------------------------------------------------------------

    def fill(self, feed: Feed) -> None:
        if feed.wants_more:
            self._tasks.spawn(self._load(feed))
            feed.is_loading = True

    async def _load(self, feed: Feed) -> None:
        """What is due next of a subscription, as much as can be sent soon."""
        what = f"webhooks of company {feed.company_id} cannot be loaded"
        try:
            feed.may_have_more = False  # a look may find more while this reads
            async with asyncio.timeout(LONGEST_SECONDS):
                await self._load_from(await self._files.get(feed.company_id), feed)
            self._complaints.over(what)
        except Exception as error:
            self._failed(feed.company_id)
            self._complaints.failed(what, error)
        finally:
            feed.loaded()
        self.fill(feed)
        self._loaded(feed)

    def _reserve(self, feed: Feed) -> int:
        """Room for what is to be loaded, in characters of bodies."""
        of_company = sum(each.size + each.reserved for each in self._feeds[feed.company_id].values())
        feed.reserved = max(min(LARGEST_LOAD, LARGEST_OF_COMPANY - of_company), 0)
        return feed.reserved

    async def _load_from(self, database: Database, feed: Feed) -> None:
        taken, limit, room = list(feed.taken), AHEAD * feed.allowed, self._reserve(feed)

        def read(tx: Transaction) -> tuple[Target, DueNow] | None:
            target = deliveries.target(tx, feed.subscription_id)
            if target is None or not target.active:
                return None
            return target, deliveries.due(tx, feed.subscription_id, taken, limit, room)

        loaded = await database.read(read)
        if loaded is None:
            feed.drop()  # switched off or deleted
        else:
            target, (found, is_all) = loaded
            feed.may_have_more |= not is_all
            lost = [due.id for due in found if due.body is None]
            if lost:
                because = "Its event is no longer kept."
                await database.write(lambda tx: deliveries.skip(tx, lost, because))
            feed.take(target, (due for due in found if due.body is not None), self._vault)


async def _skip_some(database: Database, because: str) -> bool:
    """Whether there may be more: other companies' files are looked into in between."""
    return await database.write(lambda tx: deliveries.skip_all(tx, because)) >= deliveries.AT_ONCE


def _forget_deleted(feeds: dict[int, Feed], known: set[int] | None) -> None:
    if known is not None:
        for subscription_id in feeds.keys() - known:
            if feeds[subscription_id].is_at_rest:
                del feeds[subscription_id]


def _see(tx: Transaction, ready: list[int], is_crowded: bool) -> Seen:
    targets = [target for each in ready if (target := deliveries.target(tx, each)) is not None]
    known = store.ids(tx) if is_crowded else None
    return Seen(deliveries.look(tx), switch_off.switched_off(tx), targets, known)
