"""What signing on needs of its installation."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.ids import Ids
from wmsd.base.problems import not_found, unavailable
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


class Connected(NamedTuple):
    provider: Provider
    published: Published


class SignOnService:
    def __init__(
        self, platform: Database, clock: Clock, ids: Ids, client: LazyClient, providers: Sequence[Provider]
    ) -> None:
        self.platform = platform
        self.clock = clock
        self.client = client
        self.complaints = RepeatedFailures(LOG, (NoAnswer,), clock.monotonic)
        """A provider that fails does so for everybody who tries."""
        self.under_way = UnderWay(clock, ids)
        self._connected = {each.name: Connected(each, Published(each, client, clock)) for each in providers}
        self._exchanging = 0

    @property
    def providers(self) -> list[Provider]:
        return [each.provider for each in self._connected.values()]

    def connected(self, name: str) -> Connected:
        """Raises Problem (404)."""
        found = self._connected.get(name)
        if found is None:
            raise not_found(f"provider as {name[:32]}")
        return found

    @contextmanager
    def exchanging(self) -> Iterator[None]:
        """Raises Problem (503) when too many are under way."""
        if self._exchanging >= MOST_AT_ONCE:
            raise unavailable("Too many people sign on at once. Try again in 5 s.")
        self._exchanging += 1
        try:
            yield
        finally:
            self._exchanging -= 1
