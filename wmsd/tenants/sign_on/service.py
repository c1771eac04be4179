"""The objects that signing on needs."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.ids import Ids
from wmsd.base.problems import or_not_found
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.db.engine.database import Database
from wmsd.http_client.lazy_client import LazyClient
from wmsd.tenants.sign_on.metadata import Published
from wmsd.tenants.sign_on.open_sign_ons import OpenSignOn
from wmsd.tenants.sign_on.provider_requests import NoAnswer
from wmsd.tenants.sign_on.providers import Provider

LOG: Final = logging.getLogger("wmsd.sign_on")
MOST_AT_ONCE: Final = 16
"""The maximum number of exchanges at the same time. In an exchange, wmsd sends a code to a provider and gets the
user's data. Each exchange uses a request and a connection until the provider responds.
"""


class SignOnService:
    def __init__(
        self, platform: Database, clock: Clock, ids: Ids, client: LazyClient, providers: Sequence[Provider]
    ) -> None:
        self.platform = platform
        self.complaints = RepeatedFailures(LOG, (NoAnswer,), clock.monotonic)
        """The log of failures. If sign-ins of many users fail because of one provider, the log reports this
        provider only once.
        """
        self.under_way = OpenSignOn(clock, ids)
        self.providers = providers
        self._published = {each.name: Published(each, client, clock) for each in providers}
        self.exchanging = asyncio.Semaphore(MOST_AT_ONCE)
        """Limits the number of exchanges at the same time (see `MOST_AT_ONCE`). At the limit, a further request is
        refused at once.
        """

    def published(self, name: str) -> Published:
        """Return the published data of the provider with this name. Raise Problem (404) if there is no such
        provider.
        """
        return or_not_found(self._published.get(name), f"provider as {name[:32]}")
