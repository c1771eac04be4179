"""Sends what is due. Everything that counts is a row; what stands here in memory may be lost at any moment.

After a commit, and when something comes due, it looks into the company's file (`lookout.py`), loads what is due
(`loader.py`), sends it (`dispatcher.py`), and writes down what came of it (`recorder.py`). What was not written
down is due again: at least once, always.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.vault import Vault
from wmsd.db.company_files import CompanyFiles
from wmsd.webhooks.dispatcher import Dispatcher
from wmsd.webhooks.feed import Feed
from wmsd.webhooks.lazy_client import LazyClient
from wmsd.webhooks.loader import Audit, Loader
from wmsd.webhooks.lookout import Companies, Lookout
from wmsd.webhooks.pace import Pace
from wmsd.webhooks.recorder import Recorder
from wmsd.webhooks.results import Result
from wmsd.webhooks.tasks import Tasks

STOP_SECONDS: Final = 3.0
MANY: Final = 32
"""Results that are not written down yet: then each of many commits would be a reason to look for what is due."""


class Sender:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        audit: Audit,
        client: LazyClient,
        vault: Vault,
        clock: Clock,
        answered: Callable[[], int],
    ) -> None:
        """`answered`: how many requests there have been."""
        self._tasks = Tasks()
        self._is_running = False
        pace = Pace(answered)
        self._loader = Loader(
            files=files,
            companies=companies,
            audit=audit,
            vault=vault,
            tasks=self._tasks,
            loaded=self._loaded,
            failed=self._failed,
        )
        self._lookout = Lookout(
            files=files,
            companies=companies,
            clock=clock,
            look=self._loader.look,
            is_busy=lambda: pace.is_busy or self._recorder.unwritten >= MANY,
        )
        self._recorder = Recorder(files, self._tasks, self._written)
        self._dispatcher = Dispatcher(
            companies=companies,
            client=client,
            clock=clock,
            pace=pace,
            is_held_up=self._recorder.is_behind,
            done=self._done,
            failed=self._failed,
            refused=self.committed,
        )

    async def start(self) -> None:
        self._is_running = True
        self._dispatcher.start()
        await self._lookout.start()

    def committed(self, company_id: int) -> None:
        """Something was written to the company's file."""
        if self._is_running:
            self._lookout.want(company_id)

    async def tick(self) -> None:
        """Finds what has come due, and what another process has written. APScheduler calls it."""
        if self._is_running:
            self._dispatcher.dispatch()  # should a moment have been missed
            await self._lookout.tick()

    @property
    def switched_off(self) -> int:
        """How many subscriptions the service itself has switched off."""
        return self._loader.switched_off

    @property
    def under_way(self) -> int:
        """How many attempts wait for their receivers."""
        return len(self._dispatcher.tasks)

    @property
    def is_busy(self) -> bool:
        """Whether, besides, anything is looked for, loaded or written down, or waits for its moment."""
        return bool(self._tasks) or self._lookout.is_busy or self._dispatcher.is_waiting

    async def stop(self) -> None:
        """Waits a moment for what is under way; what is cut off is due again at the next start."""
        self._is_running = False
        self._lookout.stop()
        self._dispatcher.stop()
        await self._dispatcher.tasks.wait(STOP_SECONDS)
        self._dispatcher.tasks.cancel()
        await self._dispatcher.tasks.wait(STOP_SECONDS)
        await self._tasks.wait(STOP_SECONDS)
        self._tasks.cancel()
        await self._tasks.wait(STOP_SECONDS)

    def _loaded(self, feed: Feed) -> None:
        self._dispatcher.offer(feed)

    def _done(self, feed: Feed, result: Result) -> None:
        self._recorder.note(feed.company_id, result)
        self._loader.fill(feed)

    def _written(self, company_id: int, results: Sequence[Result], released: set[int]) -> None:
        written: defaultdict[int, set[int]] = defaultdict(set)
        for result in results:
            written[result.subscription_id].add(result.delivery_id)
        for subscription_id, delivery_ids in written.items():
            feed = self._loader.feed(company_id, subscription_id)
            if feed is not None:
                feed.written(delivery_ids)
                feed.may_have_more |= subscription_id in released
                self._loader.fill(feed)
        self._dispatcher.dispatch()

    def _failed(self, company_id: int) -> None:
        self._lookout.again(company_id)
