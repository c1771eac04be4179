"""What signing on needs of its installation."""

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
from wmsd.tenants.sign_on.open_sign_ons import UnderWay
from wmsd.tenants.sign_on.provider_requests import NoAnswer
from wmsd.tenants.sign_on.providers import Provider

LOG: Final = logging.getLogger("wmsd.sign_on")
MOST_AT_ONCE: Final = 16
"""Codes that are being exchanged. Each holds a request and a connection for as long as its provider takes."""


class SignOnService:
    def __init__(
        self, platform: Database, clock: Clock, ids: Ids, client: LazyClient, providers: Sequence[Provider]
    ) -> None:
        self.platform = platform
        self.complaints = RepeatedFailures(LOG, (NoAnswer,), clock.monotonic)
        """A provider that fails does so for everybody who tries."""
        self.under_way = UnderWay(clock, ids)
        self.providers = providers
        self._published = {each.name: Published(each, client, clock) for each in providers}
        self.exchanging = asyncio.Semaphore(MOST_AT_ONCE)
        """Held while a code is exchanged. Nobody waits for it."""

    def published(self, name: str) -> Published:
        """What the provider with this name publishes. Raises Problem (404)."""
        return or_not_found(self._published.get(name), f"provider as {name[:32]}")
