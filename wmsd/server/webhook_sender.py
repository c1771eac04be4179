"""Webhooks in a running server: the sender of the webhooks, and the operation that sends a test event."""

from collections.abc import Callable
from functools import partial

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.contract.context import Company
from wmsd.contract.results import Text
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.actions import writing
from wmsd.events.webhooks.deliveries.schema import Delivery
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.sending.sender import Sender
from wmsd.events.webhooks.sending.test_event import send_test
from wmsd.http_client.lazy_client import LazyClient
from wmsd.installation.open_installation import Installation
from wmsd.server.missing_credentials import note_missing
from wmsd.tenants.companies import store as companies


def new_client(installation: Installation) -> LazyClient:
    given = installation.settings.webhooks
    return LazyClient(installation.guard, given.ca_file, given.keep_answers, proxy=given.proxy)


def new_sender(installation: Installation, client: LazyClient) -> Sender:
    """Create the sender. When this process has committed a change to a company's file, the sender looks for new
    webhook deliveries in the file.
    """

    async def audit(action: str, subject: str) -> None:
        await installation.platform.write(lambda tx: companies.write_audit(tx, action, subject), is_quiet=True)

    sender = Sender(
        files=installation.files,
        companies=installation.access.companies,
        audit=audit,
        tell_missing=partial(note_missing, installation.platform),
        client=client,
        vault=installation.vault,
        clock=installation.clock,
        answered=lambda: installation.dispatcher.answered,
    )
    installation.files.after_commit = sender.committed
    return sender


@dataclass(frozen=True, slots=True)
class WebhookService:
    client: LazyClient
    clock: Clock


@writing(answer="record", returns=Delivery, off_because=off_because, codes=("INVALID_STATUS",))
async def test_webhook(
    service: WebhookService, id: int, company: Company, database: Database
) -> Callable[[Transaction], Text]:
    """Send a test event.

    Sends one event `webhook.test` like any other event, even if the subscription is off. The request waits up to
    10 seconds for the receiver. The answer is the webhook delivery with this one attempt.
    """
    note = or_not_found(await send_test(database, service.client, service.clock, id, company), "webhook")
    # the delivery may be deleted meanwhile, with its webhook
    return lambda tx: Text(or_not_found(note(tx), "webhook").json)
