"""Webhooks in a running service: its sender, and the test that waits for its answer."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from wmsd.app import idempotency
from wmsd.app.call import Call, Reply
from wmsd.app.site import Site
from wmsd.base.context import Company
from wmsd.base.operation import operation
from wmsd.base.problems import forbidden, not_found
from wmsd.companies import store as companies
from wmsd.webhooks.lazy_client import LazyClient
from wmsd.webhooks.rules import off_because
from wmsd.webhooks.schema import Delivery
from wmsd.webhooks.sender import Sender
from wmsd.webhooks.trial import send_test

SEND: Final = "webhooks:write"


def new_client(site: Site) -> LazyClient:
    given = site.settings.webhooks
    return LazyClient(site.guard, given.ca_file, given.keep_answers)


def new_sender(site: Site, client: LazyClient) -> Sender:
    """Looks into a company's file after each commit of this process to it."""

    async def audit(action: str, subject: str) -> None:
        await site.platform.write(lambda tx: companies.audit(tx, action, subject))

    sender = Sender(
        files=site.files,
        companies=site.access.companies,
        audit=audit,
        client=client,
        vault=site.vault,
        clock=site.clock,
        answered=lambda: site.door.answered,
    )
    site.files.after_commit = sender.committed
    return sender


@dataclass(frozen=True, slots=True)
class WebhookDesk:
    site: Site
    client: LazyClient
    under_way: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """By the scope of an Idempotency-Key, as long as somebody holds it or waits for it."""


@operation(tag="Webhooks", answer="record", returns=Delivery, ability=SEND, module="webhooks")
async def test_webhook(desk: WebhookDesk, id: int, company: Company, call: Call) -> Reply:
    """Send a test event and see what comes back.

    An event `webhook.test` goes through the same path as all others, once, whether the subscription is active or
    not; the answer is its delivery with the one attempt. It waits for the receiver, up to 10 seconds.
    """
    because = off_because(company)
    if because is not None:
        raise forbidden(because)
    assert call.caller is not None
    key = idempotency.key_of(call, call.caller.actor.user_id, {})
    if key is None:
        return await _send(desk, id, company, None)
    async with desk.under_way.setdefault(key.scope, asyncio.Lock()):
        database = await desk.site.files.get(company.id)
        kept = await database.read(partial(idempotency.find, key=key))
        return kept or await _send(desk, id, company, key)


async def _send(desk: WebhookDesk, id: int, company: Company, key: idempotency.Key | None) -> Reply:
    site = desk.site
    database = await site.files.get(company.id)
    record = await send_test(database, desk.client, site.clock, site.vault, id, company.sandbox, company.id)
    if record is None:
        raise not_found("webhook")
    reply = Reply(200, record.json.encode(), {})
    if key is not None:
        await database.write(lambda tx: idempotency.keep(tx, key, reply))
    return reply
