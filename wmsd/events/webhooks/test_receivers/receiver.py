"""Receives a delivery inside this process: stores it in the company's file, and answers as configured."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from wmsd.base.clock import Clock
from wmsd.db.engine.database import Database
from wmsd.events.webhooks import receiver_rules
from wmsd.events.webhooks.test_receivers import store
from wmsd.http_client.answer import Answer


async def receive_delivery(
    database: Database,
    clock: Clock,
    subscription_id: int,
    delivery_id: int,
    headers: Mapping[str, str],
    body: bytes,
) -> Answer:
    """Store a delivery and return the answer of the test receiver. Raise the errors of the write, because the
    installation has failed and not the receiver.
    """
    started = time.monotonic()
    keep = partial(
        store.keep,
        subscription_id=subscription_id,
        delivery_id=delivery_id,
        headers=dict(headers),
        body=body,
        at=clock.now(),
    )
    answers = await database.write(keep, is_quiet=True)  # the write makes no delivery due
    if answers is None:
        return Answer(None, {}, b"", False, time.monotonic() - started, receiver_rules.ENDED)
    reply = receiver_rules.REPLIES[answers]
    if reply.seconds:
        await asyncio.sleep(reply.seconds)
    text = reply.text.encode()
    sent = {"Content-Type": "text/plain", "Content-Length": str(len(text))}
    return Answer(reply.status, sent, text, False, time.monotonic() - started, None)
