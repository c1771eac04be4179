"""One attempt to send a delivery: with the guarded HTTP client, or directly to a test receiver in this process."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.vault import Vault
from wmsd.contract.context import Company
from wmsd.db.engine.database import Database
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.deliveries import headers as shown_headers
from wmsd.events.webhooks.deliveries.due_store import Due, Target
from wmsd.events.webhooks.deliveries.results_store import Result
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.events.webhooks.signing import delivery_headers, headers
from wmsd.http_client.answer import Answer
from wmsd.http_client.lazy_client import LazyClient

OpenDatabase = Callable[[], Awaitable[Database]]
"""Opens the file of the company."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """A target with its unsealed credentials. `credentials` is None if this installation cannot open them."""

    target: Target
    host: str
    credentials: dict[str, Any] | None
    previous_secret: str | None


def open_receiver(target: Target, vault: Vault) -> Receiver:
    return Receiver(
        target=target,
        host=urlsplit(target.url).netloc.lower(),
        credentials=missing_credentials.opened(vault, target.credentials),
        previous_secret=vault.unseal(target.previous_secret) if target.previous_secret else None,
    )


async def attempt(
    client: LazyClient, clock: Clock, open_database: OpenDatabase, company: Company, receiver: Receiver, due: Due
) -> Result:
    """Send a delivery once, and return the result. An error of the receiver is a result and is not raised.

    `receiver.credentials` must not be None. Raise Problem (503) if this machine lacks files, threads or memory.
    For a test receiver, also raise the errors of writing to the company's file.
    """
    assert receiver.credentials is not None
    assert due.event_id is not None
    assert due.event is not None
    assert due.body is not None
    target = receiver.target
    now = clock.now()
    at = timestamps.to_text(now)
    body = due.body.encode()
    is_previous_valid = (target.previous_secret_expires_at or "") > at
    sent = headers(
        auth_type=target.auth_type,
        credentials=receiver.credentials,
        previous_secret=receiver.previous_secret if is_previous_valid else None,
        event_id=due.event_id,
        event=due.event,
        attempt=due.attempts + 1,
        sequence=due.sequence,
        epoch=due.epoch,
        sequence_gap=due.sequence_gap,
        seconds=int(now.timestamp()),
        body=body,
        is_sandbox=company.sandbox,
    )
    known = delivery_headers(due.event_id, due.event, due.attempts + 1, due.sequence)
    if target.url == ADDRESS:
        from wmsd.events.webhooks.test_receivers.receiver import receive_delivery

        database = await open_database()
        answer = await receive_delivery(database, clock, target.subscription_id, due.id, sent, body)
    else:
        answer = await client.post(target.url, sent, body, company.id)
    return Result(
        subscription_id=target.subscription_id,
        delivery_id=due.id,
        event=due.event,
        at=at,
        milliseconds=round(answer.duration * 1000),
        status=answer.status,
        answer=_shown(answer),
        error=answer.error,
        is_success=answer.is_success,
        url=target.url,
        sent_headers=shown_headers.own_headers(target.auth_type, receiver.credentials, sent, known),
        answer_headers=shown_headers.of_answer(answer.headers),
    )


def _shown(answer: Answer) -> str | None:
    if answer.status is None or not answer.is_kept:
        return None
    return answer.body.decode(errors="replace").replace("\0", "\ufffd")
