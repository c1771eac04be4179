"""Sends a test event immediately, on the same path as all other events."""

from collections.abc import Callable

from wmsd.base.clock import Clock
from wmsd.base.problems import Problem
from wmsd.base.vault import Vault
from wmsd.contract.context import Company
from wmsd.contract.results import Record
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.deliveries import due_store, results_store
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.deliveries.due_store import Due
from wmsd.events.webhooks.sending.attempt import Receiver, attempt, open_receiver
from wmsd.http_client.lazy_client import LazyClient


async def send_test(
    database: Database,
    client: LazyClient,
    clock: Clock,
    subscription_id: int,
    company: Company,
) -> Callable[[Transaction], Record | None] | None:
    """Send a test event once, even if the subscription is off. Return None if there is no such subscription.

    Otherwise return a unit of work, which the caller must run. This unit records the result, and returns the
    delivery with the receiver's answer. Raise Problem (409) if the credentials of the subscription are missing.
    """

    async def opened_already() -> Database:
        return database

    def queue(tx: Transaction) -> tuple[Receiver, Due | None] | None:
        target = due_store.target(tx, subscription_id)
        if target is None:
            return None
        vault = tx.service(Vault)
        receiver = open_receiver(target, vault)
        if receiver.credentials is None:
            missing_credentials.note(tx, subscription_id, target.url, target.credentials)
            receiver = open_receiver(
                due_store.target(tx, subscription_id) or target, vault
            )  # a test receiver has a new secret now
        due = None if receiver.credentials is None else due_store.queue_test(tx, subscription_id)
        return receiver, due

    queued = await database.write(queue)
    if queued is None:
        return None
    receiver, due = queued
    if due is None:
        raise Problem("INVALID_STATUS", missing_credentials.NOT_SENT)
    result = await attempt(client, clock, opened_already, company, receiver, due)

    def note(tx: Transaction) -> Record | None:
        results_store.record(tx, [result])
        return log.one(tx, subscription_id, due.id)

    return note
