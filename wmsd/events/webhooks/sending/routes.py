"""The ways on which a delivery goes: out, by the guarded client, or to a receiver of the house's own, without any
socket. The rest of an attempt is the same for both.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.db.engine.database import Database
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.http_client.answer import Answer
from wmsd.http_client.lazy_client import LazyClient

OpenDatabase = Callable[[], Awaitable[Database]]


class Request(NamedTuple):
    subscription_id: int
    delivery_id: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Way(Protocol):
    async def send(self, request: Request) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Out:
    """`party` as the client's."""

    client: LazyClient
    party: int

    async def send(self, request: Request) -> Answer:
        return await self.client.post(request.url, request.headers, request.body, self.party)


@dataclass(frozen=True, slots=True)
class Inside:
    """To the receiver of the house that belongs to the subscription; its own company's, whatever is sent."""

    database: OpenDatabase
    clock: Clock

    async def send(self, request: Request) -> Answer:
        from wmsd.events.webhooks.test_receivers.receiver import receive_delivery

        return await receive_delivery(
            await self.database(),
            self.clock,
            request.subscription_id,
            request.delivery_id,
            request.headers,
            request.body,
        )


@dataclass(frozen=True, slots=True)
class Ways:
    """Those of a company."""

    out: Way
    inside: Way

    def to(self, url: str) -> Way:
        return self.inside if url == ADDRESS else self.out


def ways_of(client: LazyClient, clock: Clock, database: OpenDatabase, party: int) -> Ways:
    return Ways(Out(client, party), Inside(database, clock))
